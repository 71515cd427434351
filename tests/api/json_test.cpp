// Texts as JSON writes them.
#include "api/json/json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

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

TEST(JsonText, OfNothingIsEmpty) {
  std::string out;
  append_json_text({}, out);
  EXPECT_EQ(out, "\"\"");
}

}  // namespace
}  // namespace sluice::api
