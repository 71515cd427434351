#include "host/objects/text_pool.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

TEST(TextPool, EqualTextsAreOne) {
  TextPool pool;
  const auto first = pool.intern("{\"a\":1}");
  EXPECT_EQ(first, pool.intern("{\"a\":1}"));
  EXPECT_NE(first, pool.intern("{\"a\":2}"));
  EXPECT_EQ(*first, "{\"a\":1}");
  EXPECT_EQ(pool.size(), 2U);
}

TEST(TextPool, DropsTextsThatNobodyHolds) {
  TextPool pool;
  const auto kept = pool.intern("kept");
  for (int i = 0; i < 20'000; ++i) pool.intern("text " + std::to_string(i));
  EXPECT_LE(pool.size(), 4096U);  // it is swept whenever it holds 4096 texts
  EXPECT_EQ(kept, pool.intern("kept"));
}

}  // namespace
}  // namespace sluice::host
