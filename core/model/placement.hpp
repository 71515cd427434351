// Which of two placements of a workload is the better one.
//
// A placement says how many pods of each pod set run, and on which flavors. The better one has no
// fewer pods in any pod set, and in the first resource group of the queue in which the two differ
// no pod set is on a later flavor. That is a strict partial order, so a workload that moves to
// better placements only comes to rest. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/queue_record.hpp"
#include "core/model/workload_record.hpp"

namespace sluice {

enum class Gain : std::uint8_t { kBetter, kFewerPods, kNoBetterFlavor };

/// What `now` is beside `held`, in the order of the flavors of `queue`. Pod sets are matched by
/// position. A flavor that the queue does not have (any more) comes after all that it has.
Gain compare_placements(const QueueRecord& queue, std::span<const AssignedPodSet> now,
                        std::span<const AssignedPodSet> held);

/// What a workload holds, without the pods that it gave back. REQUIRES: it holds quota.
std::vector<AssignedPodSet> placement_of(const WorkloadRecord& holder);

}  // namespace sluice
