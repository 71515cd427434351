// Model: the committed state that decisions are a function of.
//
// Records of flavors, queues and workloads, the quota tree and the ledger over it. Written by the
// engine's thread. While heads are nominated in parallel, each root's queues, holders and cells
// belong to one thread, which may simulate on them (removal.hpp) and restores them before it is
// done.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/intern.hpp"
#include "core/model/ledger.hpp"
#include "core/model/queue_record.hpp"
#include "core/model/workload_record.hpp"
#include "core/preemption/history.hpp"
#include "core/quota/quota_tree.hpp"

namespace sluice {

struct FlavorRecord {
  bool exists = false;
  api::LabelMap node_labels;
  std::vector<api::Taint> node_taints;
  std::vector<api::Toleration> tolerations;
};

/// What a workload that preempts again and again keeps from others (semantics 8).
struct Claim {
  QueueId queue = 0;
  std::vector<FrAmount> usage;
};

struct Model {
  FlavorResources frs;
  StringPool texts;
  std::deque<FlavorRecord> flavors;      ///< by FlavorId
  std::deque<QueueRecord> queues;        ///< by QueueId
  std::deque<WorkloadRecord> workloads;  ///< by WorkloadId
  QuotaTree tree;
  Ledger ledger{tree};
  EvictionHistory history;
  std::unordered_map<WorkloadId, Claim> claims;  ///< each is counted in the ledger
  Time now = 0;
  std::uint64_t cycle = 0;               ///< cycles so far, over all queues and instants
  bool requeue_by_eviction_time = true;  ///< after PodsReadyTimeout (EngineConfig)

  /// Who must be evicted when this one is, by their traits; both directions are listed.
  std::unordered_map<WorkloadId, std::vector<WorkloadId>> together;

  std::unordered_map<std::string_view, WorkloadId> ids;  ///< by key, of those that exist
  std::vector<std::uint64_t> tree_generations;           ///< by root, see tree_generation()

  /// Grows with the generation of every queue of the tree that this queue belongs to.
  std::uint64_t tree_generation(QueueId queue) const { return tree_generations[tree.root(queue)]; }

  const std::string& key(WorkloadId id) const { return workloads[id].key; }

  /// Holders of the same root that an eviction of this one takes along.
  std::vector<WorkloadId> evicted_together_with(WorkloadId id) const {
    std::vector<WorkloadId> out;
    const auto it = together.find(id);
    if (it == together.end()) return out;
    const NodeId root = tree.root(workloads[id].holding->queue);
    for (const WorkloadId other : it->second) {
      const WorkloadRecord& w = workloads[other];
      if (w.holds_quota() && tree.root(w.holding->queue) == root) out.push_back(other);
    }
    return out;
  }
};

}  // namespace sluice
