// Why a parked class waits, as of the last wake of its tree.
//
// When a wake was counted and not computed (waking.hpp), the reason with which a class was parked
// stays, but the missing amounts in it are those of the wake. They are put in when the reason is
// read. The engine's thread only.
#pragma once

#include <memory>

#include "core/model/model.hpp"

namespace sluice {

/// The reason of its class; null: it was never parked with equals. O(reasons of the class).
std::shared_ptr<const PendingReason> class_reason(const Model& model, const QueueRecord& queue,
                                                  WorkloadId id);

/// Puts the amounts into the reasons of all classes parked in the queue. O(classes) after a wake
/// that was not computed, else O(1).
void tell_as_of_wake(Model& model, QueueRecord& queue);

}  // namespace sluice
