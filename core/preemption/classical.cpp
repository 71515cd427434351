#include <algorithm>

#include "core/base/check.hpp"
#include "core/preemption/search.hpp"

namespace sluice {
namespace {

/// The candidates of one classical search, in order, with what the choice of attempts needs to
/// know.
struct Candidates {
  std::vector<Candidate> all;
  bool any_from_others = false;
  bool any_hierarchical = false;
};

/// The walk from the preemptor's queue to the root (semantics 5): collects from the other branches
/// of each ancestor, and decides which are hierarchical by where the remainder of the request is
/// held.
class Walk {
 public:
  Walk(Model& model, const VictimQuery& query)
      : model_(model), query_(query), collector_(model, query) {
    for (const FrAmount& r : query.request)
      if (r.amount > 0) remainder_.push_back(r);
  }

  std::vector<Candidate> collect() {
    const QuotaTree& tree = model_.tree;
    const api::Preemption& policy = model_.queues[query_.queue].spec->preemption;
    std::vector<Candidate> out;
    if (policy.reclaim_within_cohort != api::ReclaimWithinCohort::kNever) {
      NodeId below = query_.queue;
      bool held_below = hold_and_shrink(below);
      for (NodeId node = tree.parent(below); node != kNone; node = tree.parent(node)) {
        const auto kind = held_below ? CandidateKind::kHierarchical : CandidateKind::kPriority;
        if (some_child_exceeds(tree, node, query_.contested))
          for (const NodeId child : tree.children(node))
            if (child != below) collect_below(child, node, kind, out);
        held_below = hold_and_shrink(node) || held_below;
        below = node;
      }
    }
    collector_.collect_own(out);
    return out;
  }

 private:
  /// Does the node hold the remainder? Afterwards the remainder is smaller by what it has locally.
  bool hold_and_shrink(NodeId node) {
    bool holds = true;
    for (FrAmount& r : remainder_) {
      if (model_.tree.borrows_with(node, r.fr, r.amount)) holds = false;
      r.amount = std::max<Amount>(0, r.amount - model_.tree.local_available(node, r.fr));
    }
    return holds;
  }

  void collect_below(NodeId node, NodeId ancestor, CandidateKind kind,
                     std::vector<Candidate>& out) const {
    if (within_subtree(model_.tree, node, query_.contested)) return;
    for (const NodeId child : model_.tree.children(node)) collect_below(child, ancestor, kind, out);
    if (!model_.tree.is_queue(node)) return;
    const std::size_t first = out.size();
    collector_.collect_other(node, out);
    const api::Preemption& policy = model_.queues[query_.queue].spec->preemption;
    const std::int32_t mine = model_.workloads[query_.preemptor].priority;
    for (std::size_t i = first; i < out.size(); ++i) {
      out[i].kind = kind;
      out[i].common_ancestor = ancestor;
      const bool while_borrowing =
          policy.borrow_within_cohort && out[i].priority < mine &&
          (!policy.max_priority_threshold || out[i].priority <= *policy.max_priority_threshold);
      out[i].only_without_borrowing = kind == CandidateKind::kPriority && !while_borrowing;
    }
  }

  Model& model_;
  const VictimQuery& query_;
  CandidateCollector collector_;
  std::vector<FrAmount> remainder_;
};

VictimReason reason_of(const Candidate& c) {
  if (c.kind == CandidateKind::kOwn) return VictimReason::kInClusterQueue;
  if (c.kind == CandidateKind::kHierarchical || c.only_without_borrowing)
    return VictimReason::kInCohortReclamation;
  return VictimReason::kInCohortReclaimWhileBorrowing;
}

/// False for one of another queue when taking it could not help any more: its queue, or a cohort
/// below the common ancestor, is back within its quota.
bool still_useful(const Model& model, const VictimQuery& query, const Candidate& c) {
  if (c.kind == CandidateKind::kOwn) return true;
  for (NodeId node = c.queue; node != c.common_ancestor; node = model.tree.parent(node)) {
    SLUICE_CHECK(node != kNone, model.key(c.id), " is not below the ancestor ", c.common_ancestor);
    if (within_subtree(model.tree, node, query.contested)) return false;
  }
  return true;
}

std::vector<Victim> attempt(Model& model, const VictimQuery& query, const Candidates& candidates,
                            bool borrowing) {
  SearchState state(model, query);
  for (const Candidate& c : candidates.all) {
    if (borrowing && c.only_without_borrowing) continue;
    if (state.taken(c.id) || !still_useful(model, query, c)) continue;
    state.take(c, reason_of(c));
    if (state.fits(borrowing)) return state.minimal([&] { return state.fits(borrowing); });
  }
  return {};
}

bool under_nominal(const Model& model, const VictimQuery& query) {
  return std::all_of(query.contested.begin(), query.contested.end(), [&](FrId fr) {
    return model.tree.usage(query.queue, fr) < model.tree.nominal(query.queue, fr);
  });
}

}  // namespace

std::vector<Victim> find_classical(Model& model, const hooks::Hooks& hooks,
                                   const VictimQuery& query) {
  Candidates candidates;
  candidates.all = Walk(model, query).collect();
  CandidateCollector::drop_protected(model, hooks, query, candidates.all);
  if (candidates.all.empty()) return {};
  for (const Candidate& c : candidates.all) {
    candidates.any_from_others |= c.kind != CandidateKind::kOwn;
    candidates.any_hierarchical |= c.kind == CandidateKind::kHierarchical;
  }
  std::sort(candidates.all.begin(), candidates.all.end(),
            [&](const Candidate& a, const Candidate& b) { return taken_before(model, a, b); });

  const bool may_borrow = model.queues[query.queue].spec->preemption.borrow_within_cohort;
  if (!candidates.any_from_others || (!may_borrow && !under_nominal(model, query)))
    return attempt(model, query, candidates, true);
  const bool first = may_borrow || candidates.any_hierarchical;  // with borrowing first?
  std::vector<Victim> victims = attempt(model, query, candidates, first);
  return victims.empty() ? attempt(model, query, candidates, !first) : victims;
}

}  // namespace sluice
