#include "core/base/utf8.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

// ä has two bytes, € three, 😀 four.
TEST(Utf8, IsCutAtTheEndOfACharacter) {
  const std::string_view text = "aä€😀";  // its characters end at 1, 3, 6 and 10
  const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t most = 0; most < std::size(expected); ++most)
    EXPECT_EQ(cut_utf8(text, most), text.substr(0, expected[most])) << most;
}

TEST(Utf8, WhatIsNoneIsReplacedByteByByte) {
  EXPECT_EQ(clean_utf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(clean_utf8("\xE2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(clean_utf8("aä€😀"), "aä€😀");
}

}  // namespace
}  // namespace sluice
