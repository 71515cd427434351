// Blanks at the ends of texts, pieces, lower case, hexadecimal digits.
#include "core/base/text.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Text, LosesTheBlanksAtItsEnds) {
  struct Case {
    const char *text, *blanks, *trimmed;
  };
  const Case cases[] = {
      {"", " ", ""},           {" \t ", " \t", ""},  {"a", " ", "a"}, {"  a b ", " ", "a b"},
      {"\ta\r", " \t\r", "a"}, {"\ta ", " ", "\ta"},  // a tabulator is none of these
  };
  for (const Case& each : cases) EXPECT_EQ(trim(each.text, each.blanks), each.trimmed) << each.text;
}

TEST(Text, HasOnePieceMoreThanSeparators) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(split("", ','), (Pieces{""}));
  EXPECT_EQ(split("a", ','), (Pieces{"a"}));
  EXPECT_EQ(split("a,bc,", ','), (Pieces{"a", "bc", ""}));
  EXPECT_EQ(split(",,", ','), (Pieces{"", "", ""}));
}

TEST(Text, HasWordsBetweenItsSeparators) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(words("", ','), (Words{}));
  EXPECT_EQ(words(",a,,bc,", ','), (Words{"a", "bc"}));
}

TEST(Text, HasLettersOfLowerCaseInAscii) {
  EXPECT_EQ(lower_ascii("Content-Type: @AZ[`az{09"), "content-type: @az[`az{09");
  EXPECT_EQ(lower_ascii("\xc3\x84"), "\xc3\x84") << "other bytes stay as they are";
  EXPECT_EQ(lower_ascii(""), "");
}

TEST(Text, HasHexadecimalDigits) {
  struct Case {
    char digit;
    int value;
  };
  const Case cases[] = {{'0', 0},  {'9', 9},  {'a', 10}, {'f', 15}, {'A', 10}, {'F', 15},
                        {'/', -1}, {':', -1}, {'@', -1}, {'G', -1}, {'`', -1}, {'g', -1}};
  for (const Case& each : cases) EXPECT_EQ(hex_digit(each.digit), each.value) << each.digit;
  for (int byte = 0; byte < 256; ++byte) {
    std::string text = "x";
    append_hex(static_cast<unsigned char>(byte), text);
    ASSERT_EQ(text.size(), 3U);
    EXPECT_EQ(hex_digit(text[1]) * 16 + hex_digit(text[2]), byte) << text;
    EXPECT_EQ(lower_ascii(text), text);
  }
}

}  // namespace
}  // namespace sluice
