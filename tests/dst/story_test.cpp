// Stories: the same seed tells the same, whoever breaks a rule is found out, and a few that go
// well. `stories` plays many more (`./dev bench --stories N`).
#include <gtest/gtest.h>

#include "tests/dst/story.hpp"

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
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Told told = play(script_of(seed, kSteps));
    EXPECT_TRUE(told.wrong.empty())
        << "seed " << seed << ", " << told.where << ": " << told.wrong.front();
  }
}

/// How many of some seeds show that something is wrong.
int found(Broken broken) {
  int out = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    out += !play(script_of(seed, 2 * kSteps), broken).wrong.empty();
  return out;
}

TEST(Story, ADiskThatForgetsIsFoundOut) { EXPECT_GE(found(Broken::kForgetsWrites), 5); }

TEST(Story, PodsThatStartTwiceAreFoundOut) { EXPECT_GE(found(Broken::kRestartsPods), 5); }

}  // namespace
}  // namespace sluice::host::test
