// The built-in walk over flavors (semantics 4, "Without the … plugin"), which holds without a
// provider and wherever one has no answer.
#include "core/scheduling/search_policy.hpp"

#include <gtest/gtest.h>

#include "tests/core/support/fake_hooks.hpp"

namespace sluice {
namespace {

using hooks::Mode;
using hooks::SearchVerdict;

struct SearchPolicy : ::testing::TestWithParam<bool> {
  testing::FakeSearch silent;
  hooks::Hooks hooks;
  hooks::Fault fault;
  SearchPolicy() {
    silent.silent = true;
    if (GetParam()) hooks.flavor_search = &silent;
  }
};

TEST_P(SearchPolicy, GoesOnUnlessTheFlavorFits) {
  EXPECT_EQ(search_verdict(hooks, {0, {Mode::kFit, 3}, false, {}}, fault),
            SearchVerdict::kStopHere);
  EXPECT_EQ(search_verdict(hooks, {0, {Mode::kReclaim, 0}, false, {}}, fault),
            SearchVerdict::kGoOn);
}

TEST_P(SearchPolicy, TheBetterModeComesBeforeLessBorrowing) {
  EXPECT_TRUE(better_outcome(hooks, 0, {Mode::kFit, 9}, {Mode::kReclaim, 0}, fault));
  EXPECT_TRUE(better_outcome(hooks, 0, {Mode::kFit, 0}, {Mode::kFit, 1}, fault));
  for (const Mode mode : {Mode::kFit, Mode::kNoCandidates})
    EXPECT_FALSE(better_outcome(hooks, 0, {mode, 1}, {mode, 1}, fault));
}

TEST_P(SearchPolicy, APositionHoldsFromTheCycleBeforeOrWhileNothingHappenedInItsQueue) {
  EXPECT_TRUE(keep_position(hooks, {0, 1, 5, 5}, fault));   // the cycle just before
  EXPECT_TRUE(keep_position(hooks, {0, 7, 0, 5}, fault));   // nothing happened in its queue
  EXPECT_FALSE(keep_position(hooks, {0, 7, 1, 5}, fault));  // something did
  EXPECT_FALSE(fault);
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithASilentProvider, SearchPolicy, ::testing::Bool());

TEST(SearchProvider, IsAskedWhichIsBetterOfThoseThatMayDo) {
  testing::FakeSearch search;
  search.less_borrowing_first = true;
  hooks::Hooks hooks;
  hooks.flavor_search = &search;
  hooks::Fault fault;
  EXPECT_TRUE(better_outcome(hooks, 0, {Mode::kReclaim, 0}, {Mode::kFit, 1}, fault));
  EXPECT_FALSE(better_outcome(hooks, 0, {Mode::kNoCandidates, 0}, {Mode::kFit, 1}, fault));
}

}  // namespace
}  // namespace sluice
