// Candidates: workloads that a preemptor may take, and the order in which they are taken (semantics
// 5).
//
// What the classical search and fair sharing have in common. Pure functions of the model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "core/model/model.hpp"
#include "core/model/queue_order.hpp"
#include "core/preemption/victims.hpp"

namespace sluice {

/// Kinds in the order in which they are taken.
enum class CandidateKind : std::uint8_t { kHierarchical, kPriority, kOwn };

struct Candidate {
  WorkloadId id = 0;
  QueueId queue = 0;
  CandidateKind kind = CandidateKind::kOwn;
  bool only_without_borrowing = false;
  bool evicting = false;
  NodeId common_ancestor = kNone;
  // Copies of what the order looks at, so that sorting stays in this array.
  std::int32_t priority = 0;
  Time reserved_at = 0;
  UidNumber uid;
};

/// True when some pod set of the holder is assigned one of these frs, amount 0 included.
bool uses_any(const Holding& holding, std::span<const FrId> frs);

/// Does `usage` fit into the subtree quota of this node in all these frs?
bool within_subtree(const QuotaTree& tree, NodeId node, std::span<const FrId> frs);

/// Does some child of the cohort exceed its subtree quota in one of these frs? O(frs).
bool some_child_exceeds(const QuotaTree& tree, NodeId node, std::span<const FrId> frs);

/// Collects the holders of one queue that the preemptor may take by the policy of its queue.
class CandidateCollector {
 public:
  CandidateCollector(const Model& model, const VictimQuery& query);

  /// Holders of the preemptor's own queue, by withinClusterQueue.
  void collect_own(std::vector<Candidate>& out) const;
  /// Holders of another queue, by reclaimWithinCohort.
  void collect_other(QueueId queue, std::vector<Candidate>& out) const;

  /// Takes out the candidates that a plugin protects. A fault protects all of them.
  static void drop_protected(const Model& model, const hooks::Hooks& hooks,
                             const VictimQuery& query, std::vector<Candidate>& candidates);

 private:
  bool eligible(WorkloadId id) const;

  const Model& model_;
  const VictimQuery& query_;
  const WorkloadRecord& preemptor_;
  const api::Preemption& policy_;
  Time order_time_;
};

/// Workloads that are being evicted already, then kind, then lower priority, then later quota
/// reservation, then UID, then key.
bool taken_before(const Model& model, const Candidate& a, const Candidate& b);

}  // namespace sluice
