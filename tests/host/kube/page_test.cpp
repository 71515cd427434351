// What answers hold, and the lines of a stream: tables.
#include "host/kube/page.hpp"

#include <gtest/gtest.h>

#include "host/kube/watch_lines.hpp"

namespace sluice::host {
namespace {

TEST(Page, HoldsItemsVersionAndTheWayOn) {
  const auto page = parse_page(
      R"({"metadata":{"resourceVersion":"7","continue":"t"},"items":[{"a":1},{"b":2}]})");
  ASSERT_TRUE(page) << page.error().text;
  EXPECT_EQ(page->version, "7");
  EXPECT_EQ(page->continue_token, "t");
  EXPECT_EQ(page->items.size(), 2U);
  EXPECT_TRUE(parse_page(R"({"metadata":{"resourceVersion":"7"},"items":null})"));
}

TEST(Page, SaysWhatIsNoPage) {
  for (const char* body :
       {"", "[]", "{", R"({"items":[]})", R"({"metadata":{"resourceVersion":"7"},"items":{}})",
        R"({"metadata":{"resourceVersion":"7"},"items":[1]})",
        R"({"metadata":{"resourceVersion":7},"items":[]})"})
    EXPECT_FALSE(parse_page(body)) << body;
}

TEST(Event, IsOfAKnownTypeAndHasAVersion) {
  struct Case {
    const char* type;
    WatchEvent::Type is;
  };
  using Type = WatchEvent::Type;
  for (const Case& c : {Case{"ADDED", Type::kChanged}, Case{"MODIFIED", Type::kChanged},
                        Case{"DELETED", Type::kDeleted}, Case{"BOOKMARK", Type::kBookmark}}) {
    const auto event = parse_event(std::string(R"({"type":")") + c.type +
                                   R"(","object":{"metadata":{"resourceVersion":"8"}}})");
    ASSERT_TRUE(event) << c.type;
    EXPECT_EQ(event->type, c.is) << c.type;
    EXPECT_EQ(event->version, "8");
  }
  const auto error = parse_event(R"({"type":"ERROR","object":{"code":410}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->type, Type::kError);
  for (const char* line :
       {"", "{}", "null", R"({"type":"ADDED"})", R"({"type":"ADDED","object":{}})",
        R"({"type":"OTHER","object":{"metadata":{"resourceVersion":"8"}}})",
        R"({"type":"ADDED","object":[]})"})
    EXPECT_FALSE(parse_event(line)) << line;
}

TEST(Status, SaysWhatToDo) {
  struct Case {
    int status;
    const char* retry_after;
    Ending how;
    Duration wait;
  };
  for (const Case& c :
       {Case{200, "", Ending::kClosed, 0}, Case{410, "", Ending::kGone, 0},
        Case{404, "", Ending::kMissing, 0}, Case{401, "", Ending::kRefused, 0},
        Case{403, "", Ending::kRefused, 0}, Case{302, "", Ending::kRefused, 0},
        Case{429, "3", Ending::kBusy, 3 * kSecond}, Case{503, "x", Ending::kAway, 0},
        Case{500, "-5", Ending::kAway, 0}, Case{503, "9999999999", Ending::kAway, 300 * kSecond}}) {
    const Ended ended = ending_of(c.status, c.retry_after);
    EXPECT_EQ(ended.how, c.how) << c.status;
    EXPECT_EQ(ended.retry_after, c.wait) << c.status << " " << c.retry_after;
  }
  const auto too_new = boost::json::parse(
      R"({"code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})");
  EXPECT_EQ(ending_of(504, "1", &too_new.as_object()).how, Ending::kGone);
  EXPECT_EQ(ending_of(504, "1").how, Ending::kAway);
  EXPECT_EQ(message_of(403, R"({"message":"not you"})"), "not you");
  EXPECT_EQ(message_of(502, "<html>"), "the server answered 502");
  EXPECT_EQ(message_of(403, R"({"message":")" + std::string(1000, 'x') + R"("})").size(), 300U);
}

std::vector<std::string> lines_of(const std::vector<std::string>& pieces, std::size_t longest,
                                  bool& too_long) {
  WatchLines lines(longest);
  std::vector<std::string> out;
  for (const std::string& piece : pieces) {
    if (!lines.add(piece, [&](std::string_view line) {
          out.emplace_back(line);
          return line != "stop";
        }))
      break;
  }
  too_long = lines.too_long();
  return out;
}

TEST(WatchLines, AreTheSameHoweverTheyCome) {
  bool too_long = false;
  const std::vector<std::string> expected = {"one", "two", "three"};
  EXPECT_EQ(lines_of({"one\ntwo\n\nthree\nfo"}, 10, too_long), expected);
  EXPECT_EQ(lines_of({"o", "ne\nt", "wo", "\n", "three\n"}, 10, too_long), expected);
  EXPECT_EQ(lines_of({"one\nstop\nthree\n"}, 10, too_long),
            (std::vector<std::string>{"one", "stop"}));
  EXPECT_FALSE(too_long);
}

TEST(WatchLines, EndAtTheirLimit) {
  bool too_long = false;
  EXPECT_EQ(lines_of({"1234\n12345\n"}, 4, too_long), std::vector<std::string>{"1234"});
  EXPECT_TRUE(too_long);
  lines_of({"123", "45"}, 4, too_long);
  EXPECT_TRUE(too_long) << "whether its end has come or not";
}

}  // namespace
}  // namespace sluice::host
