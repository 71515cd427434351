// What follows from the reason of an eviction.
#include "core/reasons/eviction_reason.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(EvictionReason, SaysWhetherItWasTurnedOffAndWhetherADelayFollows) {
  struct Case {
    std::string_view reason;
    bool deactivation = false;
    std::optional<std::string_view> cause;
    bool backoff = false;
  };
  const Case cases[] = {
      {"Preempted", false, {}, false},
      {"AdmissionCheck", false, {}, true},
      {"PodsReadyTimeout", false, {}, true},
      {"ClusterQueueStopped", false, {}, false},
      {"LocalQueueStopped", false, {}, false},
      {"WorkloadGone", false, {}, false},
      {"Deactivated", true, {}, false},
      {"DeactivatedDueToAdmissionCheck", true, "AdmissionCheck", false},
      {"DeactivatedDueToRequeuingLimitExceeded", true, "RequeuingLimitExceeded", false},
      {"DeactivatedDueToMaximumExecutionTimeExceeded", true, "MaximumExecutionTimeExceeded", false},
      {"DeactivatedByAPlugin", true, {}, false},  // a reason of a plugin's own
      {"ReplacedDueToGrowth", false, {}, false},
      {"", false, {}, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(is_deactivation(c.reason), c.deactivation) << c.reason;
    EXPECT_EQ(cause_of_deactivation(c.reason), c.cause) << c.reason;
    EXPECT_EQ(ends_in_backoff(c.reason), c.backoff) << c.reason;
  }
}

TEST(EvictionReason, OfADeactivationHasItsCauseInReasonAndMessage) {
  EXPECT_EQ(deactivation_due_to("AdmissionCheck"), eviction_reason::kCheckRejected);
  EXPECT_EQ(cause_in("The workload is deactivated due to a check"), "a check");
  EXPECT_EQ(cause_in("The workload is deactivated"), "The workload is deactivated");
}

/// Clients and other programs compare with them.
TEST(EvictionReason, IsSpelledAsKueueSpellsIt) {
  EXPECT_EQ(eviction_reason::kPreempted, "Preempted");
  EXPECT_EQ(eviction_reason::kAdmissionCheck, "AdmissionCheck");
  EXPECT_EQ(eviction_reason::kPodsReadyTimeout, "PodsReadyTimeout");
  EXPECT_EQ(eviction_reason::kClusterQueueStopped, "ClusterQueueStopped");
  EXPECT_EQ(eviction_reason::kLocalQueueStopped, "LocalQueueStopped");
  EXPECT_EQ(eviction_reason::kDeactivated, "Deactivated");
  EXPECT_EQ(cause_of_deactivation(eviction_reason::kCheckRejected), "AdmissionCheck");
  EXPECT_EQ(cause_of_deactivation(eviction_reason::kRequeuingLimit), "RequeuingLimitExceeded");
  EXPECT_EQ(cause_of_deactivation(eviction_reason::kTimeLimit), "MaximumExecutionTimeExceeded");
}

}  // namespace
}  // namespace sluice
