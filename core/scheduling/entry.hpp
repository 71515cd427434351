// Entry: one head on its way through a cycle.
//
// Made by nomination, put in order, then processed once; its status is set by processing alone.
// Belongs to the engine's thread once nomination is over.
#pragma once

#include <algorithm>

#include "core/queueing/order_key.hpp"
#include "core/scheduling/nominator.hpp"

namespace sluice {

enum class EntryStatus : std::uint8_t {
  kNoRoom,      ///< no fit, or needs preemption and has no victims: set aside
  kSkipped,     ///< nominated, but lost the race
  kPreempting,  ///< its victims are evicted; it waits
  kWaiting,     ///< it fits once the victims of earlier entries are gone
  kReserved,    ///< holds quota from now on
  kHeld,        ///< the same, and its preemptions wait for admission checks
  kBehind,      ///< it fits, but on what is promised to others and still runs
};

struct Entry {
  WorkloadId id = 0;
  QueueId queue = 0;
  OrderKey key;
  Nomination nomination;
  EntryStatus status = EntryStatus::kNoRoom;
  std::uint64_t queue_generation = 0;  ///< before anything of this cycle was committed
  std::uint64_t tree_generation = 0;
  std::uint64_t own_usage = 0;
  bool resumed_from_start = true;  ///< its walk began at the first flavors

  void note_generations(const Model& model) {
    queue_generation = model.queues[queue].generation;
    tree_generation = model.tree_generation(queue);
    own_usage = model.queues[queue].own_usage;
    const ScanPosition* scan = model.workloads[id].scan.get();
    resumed_from_start = !scan || std::all_of(scan->positions.begin(), scan->positions.end(),
                                              [](std::int16_t position) { return position < 0; });
  }
};

}  // namespace sluice
