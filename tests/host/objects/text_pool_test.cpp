#include "host/objects/text_pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
  EXPECT_LE(pool.size(), 4097U);  // it is swept whenever it took in 4096 texts
  EXPECT_EQ(kept, pool.intern("kept"));
}

// 16 of a MiB each, and the one that is taken in before it is looked again.
TEST(TextPool, DropsLargeTextsThatNobodyHoldsBeforeTheyAreMany) {
  TextPool pool;
  for (int i = 0; i < 200; ++i) {
    pool.intern(std::string(1U << 20, 'x') + std::to_string(i));
    EXPECT_LE(pool.size(), 17U) << i;
  }
}

// What is held is looked at once for each time that as much came: 100 texts are held, and of those
// that come no more than 100 are there unreferenced.
TEST(TextPool, LooksAsOftenAsWhatItHoldsIsWorth) {
  TextPool pool;
  std::vector<TextPool::Text> held;
  const std::string large(1U << 20, 'x');
  for (int i = 0; i < 100; ++i) held.push_back(pool.intern(large + std::to_string(i)));
  for (int i = 0; i < 400; ++i) {
    pool.intern(large + "-" + std::to_string(i));
    EXPECT_LE(pool.size(), 201U) << i;
  }
}

}  // namespace
}  // namespace sluice::host
