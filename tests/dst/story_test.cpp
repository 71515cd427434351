// Stories: the same seed tells the same, whoever breaks a rule is found out, and a few that go
// well. `stories` plays many more (`./dev bench --stories N`).
#include <gtest/gtest.h>

#include "tests/dst/story.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

constexpr std::size_t kSteps = 60;

TEST(Story, TheSameSeedTellsTheSame) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Script script = script_of(seed, kSteps);
    const Told one = play(script), other = play(script);
    EXPECT_EQ(one.digest, other.digest) << seed;
    EXPECT_EQ(one.decisions, other.decisions) << seed;
    EXPECT_GT(one.decisions, 0u) << seed;
  }
}

TEST(Story, NothingIsLostAndNobodyStarves) {
  const auto seeds = static_cast<std::uint64_t>(trial::share_of(20));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Told told = play(script_of(seed, kSteps));
    EXPECT_TRUE(told.wrong.empty())
        << "seed " << seed << ", " << told.where << ": " << told.wrong.front();
  }
}

/// Half of some seeds and more show that something is wrong.
void expect_found(Broken broken) {
  const int seeds = trial::share_of(10);
  int found = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    found += !play(script_of(static_cast<std::uint64_t>(seed), 2 * kSteps), broken).wrong.empty();
  EXPECT_GE(2 * found, seeds);
}

TEST(Story, ADiskThatForgetsIsFoundOut) { expect_found(Broken::kForgetsWrites); }

TEST(Story, PodsThatStartTwiceAreFoundOut) { expect_found(Broken::kRestartsPods); }

}  // namespace
}  // namespace sluice::host::test
