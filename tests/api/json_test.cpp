// Texts as JSON writes them.
#include "api/json/json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace sluice::api {
namespace {

std::string escaped(unsigned char byte) {
  switch (byte) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      if (byte >= 0x80) return "\xEF\xBF\xBD";  // no UTF-8
      return byte < 0x20 ? fmt::format("\\u{:04x}", byte) : std::string(1, static_cast<char>(byte));
  }
}

// Bytes are looked at eight at a time, then one by one: each of the 256 stands at each of the
// places of texts of up to 19 bytes, alone and before one that is escaped, too.
TEST(JsonText, IsEscapedWhereverTheByteStands) {
  for (std::size_t length = 1; length < 20; ++length)
    for (std::size_t place = 0; place < length; ++place)
      for (int byte = 0; byte < 256; ++byte) {
        const auto c = static_cast<unsigned char>(byte);
        std::string text(length, '\x7f');
        text[place] = static_cast<char>(c);
        std::string expected(place, '\x7f');
        expected += escaped(c) + std::string(length - place - 1, '\x7f');
        std::string out;
        append_json_text(text, out);
        ASSERT_EQ(out, "\"" + expected + "\"") << length << " " << place << " " << byte;
        out.clear();
        append_json_text(text + "\x1f", out);
        ASSERT_EQ(out, "\"" + expected + "\\u001f\"") << length << " " << place << " " << byte;
      }
}

// A document that was written can be read again; a NUL is a character like any other.
TEST(JsonText, BytesThatAreNoUtf8AreReplaced) {
  const std::string wrong = "\xEF\xBF\xBD";
  const std::pair<std::string, std::string> texts[] = {
      {"\xFF", wrong},
      {"a\xC3", "a" + wrong},  // the first half of ä
      {"\xC3\"", wrong + R"(\")"},
      {std::string("\0\xC3\xA4", 3), "\\u0000\xC3\xA4"},
  };
  for (const auto& [text, expected] : texts) {
    std::string out;
    append_json_text(text, out);
    EXPECT_EQ(out, '"' + expected + '"');
  }
}

TEST(JsonText, OfNothingIsEmpty) {
  std::string out;
  append_json_text({}, out);
  EXPECT_EQ(out, "\"\"");
}

// The library's own conversion misses the nearest value of some: what is read and written again
// and again would change a little each time. strtod() gives the nearest.
TEST(JsonText, NumbersAreReadExactlyAndStayAsTheyAre) {
  for (const char* text :
       {"0.3", "0.12345678901234567", "5555555000000000000000000000002135609196", "1e300",
        "123456789.12345678e-30", "-2.2250738585072014e-308", "9007199254740993.5"}) {
    boost::json::error_code error;
    const auto value = parse_deep(text, error);
    ASSERT_FALSE(error) << text;
    EXPECT_EQ(value.as_double(), std::strtod(text, nullptr)) << text;
    const std::string once = to_json(value);
    EXPECT_EQ(to_json(parse_deep(once, error)), once) << text;
  }
  for (const char* wrong : {"", "1e999", "1 2", "[1", "nul"}) {
    boost::json::error_code error;
    parse_deep(wrong, error);
    EXPECT_TRUE(error) << wrong;
  }
  boost::json::error_code error;
  EXPECT_EQ(to_json(parse_deep(" [1 ] \n", error)), "[1]");
}

}  // namespace
}  // namespace sluice::api
