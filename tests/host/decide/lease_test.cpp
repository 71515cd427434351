// Which replica decides: times in seconds; a lease lasts 15, its holder stops 2 before its end.
#include "host/decide/lease.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

constexpr Duration s = kSecond;

LeaseTimes times() { return {15 * s, 2 * s, 1 * s, 2 * s}; }

LeaseRecord held_by(const std::string& holder, const std::string& version) {
  return {holder, 15, 3, version, "before"};
}

TEST(Lease, ALeaseThatIsNotThereIsMade) {
  LeaseKeeper keeper("me", times());
  EXPECT_FALSE(keeper.holds(100 * s));
  const auto wanted = keeper.saw(std::nullopt, 100 * s);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->holder, "me");
  EXPECT_EQ(wanted->lasts_seconds, 15);
}

TEST(Lease, ItIsHeldFromBeforeTheRequestUntilBeforeItsEnd) {
  LeaseKeeper keeper("me", times());
  keeper.saw(std::nullopt, 100 * s);
  keeper.wrote(100 * s);
  EXPECT_TRUE(keeper.holds(112 * s));
  EXPECT_FALSE(keeper.holds(113 * s));  // 100 + 15 - 2
  EXPECT_TRUE(keeper.lost(113 * s));
}

TEST(Lease, AnotherOnesLeaseIsLeftToItWhileItChanges) {
  LeaseKeeper keeper("me", times());
  EXPECT_FALSE(keeper.saw(held_by("other", "1"), 100 * s));
  EXPECT_FALSE(keeper.saw(held_by("other", "2"), 114 * s));
  EXPECT_FALSE(keeper.saw(held_by("other", "2"), 128 * s));
  EXPECT_EQ(keeper.holder(), "other");
  // Seen unchanged since 114: over at 129.
  const auto wanted = keeper.saw(held_by("other", "2"), 129 * s);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->version, "2");  // so that only one of several gets it
  EXPECT_EQ(wanted->transitions, 4);
  EXPECT_EQ(wanted->acquired, "");
}

TEST(Lease, OneThatWasLetGoIsFree) {
  LeaseKeeper keeper("me", times());
  EXPECT_TRUE(keeper.saw(held_by("", "1"), 100 * s));
}

TEST(Lease, ARenewalIsNoTransition) {
  LeaseKeeper keeper("me", times());
  const auto wanted = keeper.saw(held_by("me", "5"), 100 * s);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->transitions, 3);
  EXPECT_EQ(wanted->acquired, "before");
}

// Its object was deleted, say, and another was faster: at 106 two decide, from 107 on one.
TEST(Lease, WhoSeesAnotherHolderHoldsItNoMore) {
  LeaseKeeper keeper("me", times());
  keeper.saw(std::nullopt, 100 * s);
  keeper.wrote(100 * s);
  EXPECT_TRUE(keeper.holds(107 * s - 1));
  EXPECT_FALSE(keeper.saw(held_by("other", "9"), 107 * s));
  EXPECT_FALSE(keeper.holds(107 * s));
  EXPECT_TRUE(keeper.lost(107 * s));
}

TEST(Lease, WithoutAnAnswerNothingIsHeld) {
  LeaseKeeper keeper("me", times());
  keeper.saw(std::nullopt, 100 * s);
  EXPECT_FALSE(keeper.holds(100 * s));
  EXPECT_FALSE(keeper.lost(200 * s));  // it never had it
}

}  // namespace
}  // namespace sluice::host
