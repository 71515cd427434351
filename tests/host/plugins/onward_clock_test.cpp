// The time of a host, whatever becomes of the machine's clock.
#include "host/plugins/onward_clock.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

class SetClock final : public PluginClock {
 public:
  Time now() const override { return wall; }
  Duration steady() const override { return passed; }
  Time wall = 1000 * kSecond;
  Duration passed = 7 * kSecond;
};

TEST(OnwardClock, FollowsForwardsAtOnceAndBackwardsByGoingSlower) {
  const struct {
    const char* what;
    Duration passes, set_by, expected;  // seconds, expected since the start
  } steps[] = {
      {"a second passes", 1, 0, 1},
      {"it is set an hour ahead", 1, 3600, 3602},
      {"and set back within a second: 0.9 of it count", 10, -3600, 3611},
      {"while it is ahead, 9 of 10 seconds pass", 100, 0, 3701},
      // 35,890 s later: 9/10 of them are 32,301 s, to 36,002; the machine's clock says as much.
      {"until the machine's clock has caught up", 35890, 0, 36002},
      {"and with that again", 10, 0, 36012},
  };
  SetClock machine;
  const Time start = machine.wall;
  const OnwardClock clock(machine);
  for (const auto& step : steps) {
    machine.passed += step.passes * kSecond;
    machine.wall += (step.passes + step.set_by) * kSecond;
    EXPECT_EQ(clock.now() - start, step.expected * kSecond) << step.what;
    EXPECT_EQ(clock.now() - start, step.expected * kSecond) << step.what << ", asked again";
  }
}

}  // namespace
}  // namespace sluice::host
