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

}  // namespace
}  // namespace sluice
