// What a webhook changes, as a patch: applied to what was sent it gives what is wanted.
#include "host/webhook/amendments.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "host/rest/json_patch.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

json::object parsed(const char* text) { return json::parse(text).get_object(); }

struct Sample {
  const char *before, *after, *no_wish, *removing;  // the results
};

/// `before` with the patch on it.
std::string patched(const Sample& c, Leaving leaving) {
  json::value object = json::parse(c.before);
  const json::array patch = amendments(parsed(c.before), parsed(c.after), leaving);
  const auto done = json_patch(object, patch);
  return done ? json::serialize(object) : done.error().text;
}

TEST(Amendments, GiveWhatIsWanted) {
  const Sample cases[] = {
      {R"({"spec":{"a":1}})", R"({"spec":{"a":1}})", R"({"spec":{"a":1}})", R"({"spec":{"a":1}})"},
      // Added, replaced; what is missing is unknown, or was taken out.
      {R"({"spec":{"a":1,"new":2}})", R"({"spec":{"a":3,"b":{"c":4}}})",
       R"({"spec":{"a":3,"new":2,"b":{"c":4}}})", R"({"spec":{"a":3,"b":{"c":4}}})"},
      // Lists: entry by entry as long as there are as many.
      {R"({"spec":{"l":[{"a":1,"new":2}]}})", R"({"spec":{"l":[{"a":2}]}})",
       R"({"spec":{"l":[{"a":2,"new":2}]}})", R"({"spec":{"l":[{"a":2}]}})"},
      {R"({"spec":{"l":[1]}})", R"({"spec":{"l":[1,2]}})", R"({"spec":{"l":[1,2]}})",
       R"({"spec":{"l":[1,2]}})"},
      // Labels and annotations that are gone were taken out; names may hold what pointers escape.
      {R"({"metadata":{"labels":{"a/b":"1","c~d":"2"}}})", R"({"metadata":{"labels":{"a/b":"3"}}})",
       R"({"metadata":{"labels":{"a/b":"3"}}})", R"({"metadata":{"labels":{"a/b":"3"}}})"},
      {R"({"metadata":{"annotations":{"a":"1"}}})", R"({"metadata":{}})",
       R"({"metadata":{"annotations":{}}})", R"({"metadata":{"annotations":{}}})"},
      {R"({"metadata":{}})", R"({"metadata":{"annotations":{"a":"1"}}})",
       R"({"metadata":{"annotations":{"a":"1"}}})", R"({"metadata":{"annotations":{"a":"1"}}})"},
      // What a patch must not change: other metadata, status, type.
      {R"({"apiVersion":"v1","metadata":{"name":"a"},"status":{"x":1}})",
       R"({"apiVersion":"v2","metadata":{"name":"b","uid":"u"},"status":{}})",
       R"({"apiVersion":"v1","metadata":{"name":"a"},"status":{"x":1}})",
       R"({"apiVersion":"v1","metadata":{"name":"a"},"status":{"x":1}})"},
      // Null counts as absent.
      {R"({"spec":{"a":null}})", R"({"spec":{}})", R"({"spec":{"a":null}})",
       R"({"spec":{"a":null}})"},
  };
  for (const Sample& c : cases) {
    EXPECT_EQ(json::parse(patched(c, Leaving::kIsNoWish)), json::parse(c.no_wish)) << c.before;
    EXPECT_EQ(json::parse(patched(c, Leaving::kIsRemoving)), json::parse(c.removing)) << c.before;
  }
}

}  // namespace
}  // namespace sluice::host
