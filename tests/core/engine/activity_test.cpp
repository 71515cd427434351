// What a ClusterQueue that admits nothing, and its workloads, say of that.
#include "core/engine/activity.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace sluice {
namespace {

TEST(Activity, HasAReasonAndWordsForEveryState) {
  auto spec = std::make_unique<api::ClusterQueue>();
  spec->cohort = "c";
  QueueRecord queue;
  queue.spec = std::move(spec);
  queue.inactive_detail = "a,b";
  struct Case {
    Inactive inactive;
    std::string_view reason, own, of_workloads;
  };
  const std::string_view flavors = "references missing ResourceFlavor(s): a,b";
  const std::string_view missing = "references missing AdmissionCheck(s): a,b";
  const std::string_view inactive = "references inactive AdmissionCheck(s): a,b";
  const Case cases[] = {
      {Inactive::kNo, "Ready", "", ""},
      {Inactive::kMissing, "Unknown", "doesn't exist", "doesn't exist"},
      {Inactive::kTerminating, "Terminating", "is terminating", "is terminating"},
      {Inactive::kStopped, "Stopped", "is stopped", "is stopped"},
      {Inactive::kFlavorNotFound, "FlavorNotFound", flavors, flavors},
      {Inactive::kCohortCycle, "Unknown", "its cohort is part of a cycle",
       "its cohort c is part of a cycle"},
      {Inactive::kCohortTooDeep, "Unknown", "more than 64 cohorts stand above it",
       "more than 64 cohorts stand above it, from c on"},
      {Inactive::kCheckNotFound, "AdmissionCheckNotFound", missing, missing},
      {Inactive::kCheckInactive, "AdmissionCheckInactive", inactive, inactive},
  };
  for (const Case& c : cases) {
    queue.inactive = c.inactive;
    EXPECT_EQ(activity_reason(c.inactive), c.reason);
    EXPECT_EQ(inactivity(queue, false), c.own);
    EXPECT_EQ(inactivity(queue, true), c.of_workloads);
  }
}

}  // namespace
}  // namespace sluice
