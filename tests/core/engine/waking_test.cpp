// What is not looked at anew would have been decided the same: two engines play the same random
// worlds, one of which looks at all workloads. After each instant decisions, counted cycles and the
// reasons of those that wait are the same. SLUICE_WAKING_WORLDS=N plays N worlds in each test.
#include "tests/core/engine/random_world.hpp"
#include "tests/support/amount.hpp"

namespace sluice::testing {
namespace {

std::string said(const Scenario& s) {
  std::string out;
  for (const WorkloadId id : s.engine.workloads()) {
    const WorkloadView view = s.engine.view(id);
    out += s.engine.key(id) + " " + std::to_string(static_cast<int>(view.state)) + " " +
           view.reason + ": " + view.message + "\n";
  }
  return out;
}

/// Plays a plan both ways; answers with how many cycles there were, and how many wakes were quiet.
struct Played {
  std::uint64_t cycles = 0, quiet = 0;
};
Played play_both_ways(const Plan& plan, std::uint64_t seed) {
  Player plain(plan), quick(plan);
  plain.scenario().engine.look_at_everybody();
  for (std::size_t i = 0; i < plan.instants.size(); ++i) {
    plain.tell();
    quick.tell();
    const Log expected = plain.play(i);
    EXPECT_EQ(quick.play(i), expected) << "seed " << seed << " instant " << i;
    EXPECT_EQ(said(quick.scenario()), said(plain.scenario()))
        << "seed " << seed << " instant " << i;
    EXPECT_EQ(quick.scenario().engine.stats().cycles, plain.scenario().engine.stats().cycles)
        << "seed " << seed << " instant " << i;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(plain.scenario().engine.stats().quiet_wakes, 0U);
  const EngineStats stats = quick.scenario().engine.stats();
  return {stats.cycles, stats.quiet_wakes};
}

/// Draws the plan of a seed; the wakes that are quiet in all of them must be at least so many.
template <typename Draw>
void compare(int usual, std::uint64_t least_quiet, Draw&& draw) {
  Played all;
  const auto count = static_cast<std::uint64_t>(trial::amount("SLUICE_WAKING_WORLDS", usual));
  for (std::uint64_t seed = 1; seed <= count && !::testing::Test::HasFailure(); ++seed) {
    const Played one = play_both_ways(draw(seed), seed);
    all.cycles += one.cycles;
    all.quiet += one.quiet;
  }
  ::testing::Test::RecordProperty("cycles", std::to_string(all.cycles));
  ::testing::Test::RecordProperty("quiet", std::to_string(all.quiet));
  if (trial::asked_for("SLUICE_WAKING_WORLDS"))
    std::printf("%llu cycles, %llu quiet wakes\n", static_cast<unsigned long long>(all.cycles),
                static_cast<unsigned long long>(all.quiet));
  EXPECT_GE(all.quiet * static_cast<std::uint64_t>(usual), least_quiet * count)
      << "nothing was tested";
}

TEST(Waking, RandomWorldsDecideAsIfEverybodyWereLookedAt) {
  compare(60, 3, [](std::uint64_t seed) { return Planner(seed).draw(3, 4, 12); });
}

TEST(Waking, FullWorldsDecideAsIfEverybodyWereLookedAt) {
  compare(60, 100, [](std::uint64_t seed) { return Planner(seed).draw_full(2, 5, 40); });
}

TEST(Waking, VariedWorldsDecideAsIfEverybodyWereLookedAt) {
  compare(60, 50, [](std::uint64_t seed) { return Planner(seed).varied().draw_full(2, 5, 40); });
}

TEST(Waking, FullWorldsWithChecksDecideAsIfEverybodyWereLookedAt) {
  compare(40, 5, [](std::uint64_t seed) { return Planner(seed).draw_with_checks(2, 5, 20); });
}

}  // namespace
}  // namespace sluice::testing
