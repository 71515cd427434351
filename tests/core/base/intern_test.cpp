#include "core/base/intern.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(StringPool, NumbersTextsInOrderOfFirstUse) {
  StringPool pool;
  EXPECT_EQ(pool.intern(""), 0U);
  EXPECT_EQ(pool.intern("cpu"), 1U);
  EXPECT_EQ(pool.intern("memory"), 2U);
  EXPECT_EQ(pool.intern("cpu"), 1U);
  EXPECT_EQ(pool.size(), 3U);
  EXPECT_EQ(pool.text(2), "memory");
}

TEST(StringPool, TextsStayInPlaceWhileItGrows) {
  StringPool pool;
  const std::string* first = &pool.text(pool.intern("first"));
  for (int i = 0; i < 10'000; ++i) pool.intern("text-" + std::to_string(i));
  EXPECT_EQ(first, &pool.text(1));
  EXPECT_EQ(*first, "first");
  EXPECT_EQ(pool.intern("text-9999"), 10'001U);  // "" and "first" came before text-0
}

TEST(StringPool, WhatIsNotUsedGoesAndItsNumberIsGivenAgain) {
  StringPool pool;
  for (const char* text : {"a", "b", "c", "d"}) pool.intern(text);
  std::vector<bool> used(pool.size());
  used[pool.intern("b")] = true;
  EXPECT_EQ(pool.retain(used), 1U);  // bytes, of "b"
  EXPECT_EQ(pool.known(), 2U);       // with the empty text
  EXPECT_EQ(pool.text(2), "b");
  EXPECT_EQ(pool.intern("b"), 2U);
  EXPECT_EQ(pool.intern("e"), 1U);  // that of "a"
  EXPECT_EQ(pool.intern("a"), 3U);
  EXPECT_EQ(pool.text(1), "e");
  EXPECT_EQ(pool.intern(""), 0U) << "nobody needs to use it";
}

TEST(StringPool, ForgettingTwiceFreesANumberOnce) {
  StringPool pool;
  pool.intern("a");
  pool.intern("b");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(pool.retain({}), 0U);
  EXPECT_EQ(pool.intern("c"), 1U);
  EXPECT_EQ(pool.intern("d"), 2U);
  EXPECT_EQ(pool.intern("e"), 3U);
}

}  // namespace
}  // namespace sluice
