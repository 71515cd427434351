#include "core/engine/activity.hpp"

#include "core/engine/cohort_chains.hpp"

namespace sluice {

const char* activity_reason(Inactive why) {
  switch (why) {
    case Inactive::kNo:
      return "Ready";
    case Inactive::kTerminating:
      return "Terminating";
    case Inactive::kStopped:
      return "Stopped";
    case Inactive::kFlavorNotFound:
      return "FlavorNotFound";
    case Inactive::kCheckNotFound:
      return "AdmissionCheckNotFound";
    case Inactive::kCheckInactive:
      return "AdmissionCheckInactive";
    case Inactive::kMissing:
    case Inactive::kCohortCycle:
    case Inactive::kCohortTooDeep:
      break;
  }
  return "Unknown";
}

std::string inactivity(const QueueRecord& queue, bool names_cohort) {
  switch (queue.inactive) {
    case Inactive::kNo:
      break;
    case Inactive::kMissing:
      return "doesn't exist";
    case Inactive::kTerminating:
      return "is terminating";
    case Inactive::kStopped:
      return "is stopped";
    case Inactive::kFlavorNotFound:
      return "references missing ResourceFlavor(s): " + queue.inactive_detail;
    case Inactive::kCohortCycle:
      return "its cohort " + (names_cohort ? queue.spec->cohort + " " : "") + "is part of a cycle";
    case Inactive::kCohortTooDeep:
      return "more than " + std::to_string(kMaxCohortDepth) + " cohorts stand above it" +
             (names_cohort ? ", from " + queue.spec->cohort + " on" : "");
    case Inactive::kCheckNotFound:
      return "references missing AdmissionCheck(s): " + queue.inactive_detail;
    case Inactive::kCheckInactive:
      return "references inactive AdmissionCheck(s): " + queue.inactive_detail;
  }
  return "";
}

}  // namespace sluice
