#include "core/types/workload_state.hpp"

namespace sluice {

const char* to_string(WorkloadState state) {
  switch (state) {
    case WorkloadState::kPending:
      return "Pending";
    case WorkloadState::kQuotaReserved:
      return "QuotaReserved";
    case WorkloadState::kAdmitted:
      return "Admitted";
    case WorkloadState::kFinished:
      return "Finished";
    case WorkloadState::kInactive:
      break;
  }
  return "Inactive";
}

}  // namespace sluice
