// OrderKey: the place of a pending workload in its ClusterQueue (semantics 2).
//
// The built-in order, which holds between queues too: high effective priority first, then
// queue-order time, then UID. Within a queue plugins may put keys before it: that of the workload
// stands here, that of its lane in the PendingQueue, because it changes for all of a lane at once.
// Members of a group carry what the workload has that the group is ordered as, and are ordered
// inside by rank. The UID pointers stay valid as long as the workload exists. Value type.
#pragma once

#include <cstdint>

#include "core/base/time.hpp"
#include "core/types/uid.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

struct OrderKey {
  std::int32_t priority = 0;
  Time time = 0;
  const Uid* uid = nullptr;  ///< of the workload it is ordered as
  std::int32_t rank = 0;
  const Uid* own_uid = nullptr;
  WorkloadId anchor = 0;  ///< the workload it is ordered as; itself without a group
  WorkloadId id = 0;
  std::int64_t given = 0;  ///< by a plugin, for its place within the queue: low first
  std::uint32_t lane = 0;  ///< those of one lane have its key in common; 0: all of the queue

  /// Within one lane: by the given keys, then as built in.
  struct InLane {
    bool operator()(const OrderKey& a, const OrderKey& b) const {
      return a.given != b.given ? a.given < b.given : a < b;
    }
  };

  /// The built-in order: true when `a` comes before `b`.
  friend bool operator<(const OrderKey& a, const OrderKey& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.time != b.time) return a.time < b.time;
    if (a.id == b.id) return false;
    if (const auto order = *a.uid <=> *b.uid; order != 0) return order < 0;
    if (a.anchor != b.anchor) return a.anchor < b.anchor;
    if (a.rank != b.rank) return a.rank < b.rank;
    if (const auto order = *a.own_uid <=> *b.own_uid; order != 0) return order < 0;
    return a.id < b.id;
  }
};

}  // namespace sluice
