// Totals: how many workloads hold quota or finished, and how much they hold, kept as they come and
// go, so that the status of a queue costs the same however many workloads are stored.
//
// A workload that counts for itself and shares its quota with no other is summed up in the account
// of its LocalQueue; one that counts for another, or in a unit, is listed, and looked at by itself
// when totals are read. Invariant: what is summed up for a workload stands in its record
// (Holding::summed, WorkloadRecord::tallied), and is that of its state since the last count_*() of
// it; verify_totals() sums anew. Written by the engine's thread only.
#pragma once

#include <cstddef>
#include <map>

#include "core/model/workload_record.hpp"

namespace sluice {

struct Model;

struct HeldAmount {
  Wide reserved = 0;        ///< by all that hold quota and are not promised to a preemptor
  Wide used = 0;            ///< by those that are admitted
  std::size_t holders = 0;  ///< that were granted some, 0 included
  bool operator==(const HeldAmount&) const = default;
};

/// What the holders of one LocalQueue come to in a ClusterQueue.
struct HeldTotals {
  std::size_t reserving = 0, admitted = 0;
  std::map<FrId, HeldAmount> amounts;  ///< of every fr that one of them has been granted
  bool operator==(const HeldTotals&) const = default;
};

/// The account in which a workload is counted; kNone: it is looked at by itself.
StringId account_of(const WorkloadRecord& w);

/// Sums the holding up as it counts now, after hold() or whenever what it counts as changed; no-op
/// for one that holds nothing. O(frs × log).
void count_holding(Model& model, WorkloadId id);
/// Takes it out again. REQUIRES: the usage of the holding is as it was counted.
void uncount_holding(Model& model, WorkloadId id);

/// Counts the workload as finished, as open (neither finished nor gone), or not at all, as its
/// record says.
void count_workload(Model& model, WorkloadId id);

/// Sums everything up anew and compares; aborts when it differs. O(workloads). For tests.
void verify_totals(const Model& model);

}  // namespace sluice
