// Where a workload stands in its queue (semantics 2).
//
// Pure functions of the model; from any thread while no thread writes it.
#pragma once

#include "core/model/model.hpp"
#include "core/queueing/order_key.hpp"

namespace sluice {

/// The time by which a workload is ordered: creation, or the end of its backoff-bearing eviction.
Time queue_order_time(const Model& model, const WorkloadRecord& workload);

/// Its place; a member of a group has that of the workload that the group is ordered as.
OrderKey order_key(const Model& model, WorkloadId id);

}  // namespace sluice
