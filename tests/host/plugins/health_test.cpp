// Counters over stripes, and the window of the quarantine.
#include "host/plugins/health.hpp"

#include <algorithm>
#include <thread>

#include "host/plugins/clock.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

TEST(Health, CountsOverAllThreads) {
  Health health{FaultLimits{}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&health] {
      for (int i = 0; i < 1000; ++i) health.count(Hook::kBetter, 3);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(health.stats(Hook::kBetter).calls, 4000u);
  EXPECT_EQ(health.stats(Hook::kBetter).time, 12000);
  EXPECT_EQ(health.stats(Hook::kVeto).calls, 0u);
}

// D7: what one call took is told in less than ticks of 4 ms: the least step between two readings.
TEST(SystemPluginClock, D7_MeasuresSingleCalls) {
  const SystemPluginClock clock;
  Duration least = kSecond;
  for (int i = 0; i < 1000; ++i) {
    const Duration before = clock.steady();
    Duration after = before;
    while (after == before) after = clock.steady();
    least = std::min(least, after - before);
  }
  EXPECT_LT(least, kMillisecond);
}

TEST(Health, QuarantineCountsOnlyWithinTheWindow) {
  FaultLimits limits;
  limits.quarantine_faults = 3;
  limits.quarantine_window = 10;
  Health health{limits};
  EXPECT_FALSE(health.record_fault(Hook::kVeto, 0, "a"));
  EXPECT_FALSE(health.record_fault(Hook::kVeto, 5, "b"));
  EXPECT_FALSE(health.record_fault(Hook::kVeto, 10, "c")) << "the one at 0 is out";
  EXPECT_TRUE(health.record_fault(Hook::kVeto, 11, "d")) << "5, 10 and 11";
  EXPECT_TRUE(health.quarantined());
  EXPECT_FALSE(health.record_fault(Hook::kVeto, 12, "e")) << "it is in quarantine already";
  health.reset();
  EXPECT_FALSE(health.quarantined());
  EXPECT_FALSE(health.record_fault(Hook::kVeto, 12, "f")) << "it starts anew";
  EXPECT_EQ(health.faults(), 6u);
  EXPECT_EQ(health.last_fault(), "f");
}

// Five of one workload and one of another are two; those about nothing count each.
TEST(Health, FaultsAboutOneObjectCountAsOne) {
  FaultLimits limits;
  limits.quarantine_faults = 3;
  limits.quarantine_window = 10;
  Health health{limits};
  for (Time at = 0; at < 50; ++at)
    EXPECT_FALSE(health.record_fault(Hook::kNotify, at, "a", "ns/poison")) << at;
  EXPECT_FALSE(health.record_fault(Hook::kNotify, 50, "a", "ns/other")) << "49 and 50";
  EXPECT_TRUE(health.record_fault(Hook::kFilter, 51, "a", "ns/poison")) << "of another hook";
  health.reset();
  EXPECT_FALSE(health.record_fault(Hook::kNotify, 60, "a"));
  EXPECT_FALSE(health.record_fault(Hook::kNotify, 60, "a"));
  EXPECT_TRUE(health.record_fault(Hook::kNotify, 60, "a"));
}

}  // namespace
}  // namespace sluice::host
