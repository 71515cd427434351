// Decisions: what a cycle (or a change of input) came to, in the order in which it was decided.
//
// The engine has already applied a decision to its own state when it hands it out. The host commits
// all decisions of one step as one transaction, and only then publishes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

enum class DecisionType : std::uint8_t {
  kQuotaReserved,
  kAdmitted,
  kEvicted,  ///< reason, and for reason Preempted: preemption and by
  kPending,  ///< reason or message changed (see docs/simulate.md for what counts as a change)
  kFinished,
  kDeactivated,
  kRequeued,           ///< a backoff ended
  kWaitingForVictims,  ///< it fits once the victims of others are gone
  kReservationLost,    ///< before it was admitted: reason and message
  kCheckState,         ///< reason: the check's name; cause: its new state; message: its message
  kLowered,            ///< it holds quota for fewer pods from now on, in place
  kStatus,             ///< another part of its status changed; no event, but it is stored
};

struct Decision {
  DecisionType type = DecisionType::kPending;
  WorkloadId workload = 0;
  std::string reason;
  std::string message;
  std::string cause;       ///< kEvicted for PodsReadyTimeout: WaitForStart or WaitForRecovery
  std::string before;      ///< kCheckState: the state before
  std::string preemption;  ///< kEvicted: InClusterQueue, InCohortReclamation, …
  std::string by;          ///< kEvicted: key of the workload it made room for
  std::optional<WorkloadId> successor;  ///< whose admission, in the same step, ends this one
  bool borrowing = false;               ///< kQuotaReserved
  bool admitted = false;                ///< kEvicted: it was admitted, not only reserved
};

}  // namespace sluice
