// What is due when: in order of time, id and kind, and not before its time.
#include "core/engine/timers.hpp"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <algorithm>

namespace sluice {
namespace {

using ::testing::ElementsAre;

/// `TIME:ID:KIND` of each that is due, as they come.
std::vector<std::string> due(Timers& timers, Time now) {
  std::vector<std::string> out;
  while (const auto timer = timers.pop_due(now))
    out.push_back(std::to_string(timer->at) + ":" + std::to_string(timer->id) + ":" +
                  std::to_string(static_cast<int>(timer->kind)));
  return out;
}

TEST(Timers, WithoutOneNothingIsEverDue) {
  Timers timers;
  EXPECT_EQ(timers.next(), kNever);
  EXPECT_THAT(due(timers, kNever), ElementsAre());
}

TEST(Timers, AreDueAtTheirTimeAndNotBefore) {
  struct Case {
    Time now;
    std::vector<std::string> fired;
    Time next;
  };
  const Case cases[] = {
      {9, {}, 10},
      {10, {"10:2:0"}, 20},
      {25, {"20:1:1"}, 30},
      {30, {"30:1:2", "30:1:3"}, kNever},
  };
  Timers timers;
  timers.push({30, 1, 0, TimerKind::kMaximumExecution});
  timers.push({10, 2, 0, TimerKind::kBackoff});
  timers.push({30, 1, 0, TimerKind::kRecovery});
  timers.push({20, 1, 0, TimerKind::kPodsReady});
  for (const Case& each : cases) {
    EXPECT_EQ(due(timers, each.now), each.fired) << each.now;
    EXPECT_EQ(timers.next(), each.next) << each.now;
  }
}

TEST(Timers, AtNeverNothingIsDue) {
  Timers timers;
  timers.push({kNever, 1, 0, TimerKind::kBackoff});
  EXPECT_THAT(due(timers, kNever), ElementsAre());
}

TEST(Timers, OfOneTimeComeById) {
  Timers timers;
  for (const WorkloadId id : {7U, 3U, 5U}) timers.push({10, id, 0, TimerKind::kBackoff});
  EXPECT_THAT(due(timers, 10), ElementsAre("10:3:0", "10:5:0", "10:7:0"));
}

/// Whatever is pushed comes out once, at the first moment that is not before its time, in order.
TEST(Timers, AnySequenceComesOutSortedAndEachOnce) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& times) {
    Timers timers;
    std::vector<Time> left(times.begin(), times.end());
    for (std::size_t i = 0; i < times.size(); ++i)
      timers.push({times[i], static_cast<WorkloadId>(i % 4), 0, TimerKind::kBackoff});
    std::sort(left.begin(), left.end());
    std::size_t fired = 0;
    for (Time now = 0; now <= 255; now += 5) {
      RC_ASSERT(timers.next() == (fired < left.size() ? left[fired] : kNever));
      while (const auto timer = timers.pop_due(now)) {
        RC_ASSERT(timer->at <= now && timer->at > now - 5 && timer->at == left[fired]);
        ++fired;
      }
    }
    RC_ASSERT(fired == left.size());
  }));
}

}  // namespace
}  // namespace sluice
