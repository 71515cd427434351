#include "core/base/shared_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace sluice {
namespace {

TEST(SharedTexts, EqualTextsAreOne) {
  SharedTexts pool;
  const SharedText one = pool.intern("evicted for w1");
  const SharedText same = pool.intern(std::string("evicted for ") + "w1");
  const SharedText other = pool.intern("evicted for w2");
  EXPECT_EQ(one, same);
  EXPECT_EQ(&one.text(), &same.text());
  EXPECT_FALSE(one == other);
  EXPECT_EQ(other, "evicted for w2");
  EXPECT_EQ(pool.size(), 2u);
}

TEST(SharedTexts, ATextGoesWithTheLastWhoHasIt) {
  SharedTexts pool;
  SharedText kept = pool.intern("a");
  {
    SharedText copy = kept;
    const SharedText moved = std::move(copy);
    kept = pool.intern("b");
    EXPECT_EQ(moved, "a");
    EXPECT_EQ(pool.size(), 2u);
  }
  EXPECT_EQ(pool.size(), 1u);
  SharedText& itself = kept;
  kept = itself;
  EXPECT_EQ(kept, "b");
  kept = SharedText();
  EXPECT_EQ(pool.size(), 0u);
}

TEST(SharedTexts, TheEmptyTextNeedsNoPool) {
  SharedTexts pool;
  EXPECT_EQ(pool.intern(""), SharedText());
  EXPECT_EQ(SharedText().text(), "");
  EXPECT_EQ(pool.size(), 0u);
}

}  // namespace
}  // namespace sluice
