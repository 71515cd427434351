#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/check.hpp"
#include "core/preemption/search.hpp"
#include "core/quota/fair_share.hpp"

namespace sluice {
namespace {

/// Adds the preemptor's request to its queue while targets are chosen (semantics 6).
class AddedRequest {
 public:
  AddedRequest(Model& model, const VictimQuery& query) : model_(model), query_(query) { add(); }
  AddedRequest(const AddedRequest&) = delete;
  AddedRequest& operator=(const AddedRequest&) = delete;
  ~AddedRequest() { subtract(); }

  void add() { model_.ledger.add(query_.queue, query_.request); }
  void subtract() { model_.ledger.subtract(query_.queue, query_.request); }

 private:
  Model& model_;
  const VictimQuery& query_;
};

/// The candidates of one queue, in the order in which they are taken.
struct TargetQueue {
  std::vector<Candidate> candidates;
  std::size_t next = 0;
  bool struck_out = false;

  bool empty() const { return next >= candidates.size(); }
};

/// One round of choosing queues (semantics 6, "next queue").
class Round {
 public:
  Round(const Model& model, const VictimQuery& query,
        std::unordered_map<QueueId, TargetQueue>& targets)
      : model_(model), query_(query), targets_(targets) {
    for (auto& [queue, target] : targets_) target.struck_out = false;
  }

  /// kNone when every queue is struck out.
  QueueId next() {
    const NodeId root = model_.tree.root(query_.queue);
    if (model_.tree.is_queue(root)) return usable(root) ? root : kNone;
    while (!struck_cohorts_.contains(root)) {
      const QueueId found = descend(root);
      if (found != kNone) return found;
    }
    return kNone;
  }

 private:
  bool usable(QueueId queue) const {
    const auto it = targets_.find(queue);
    return it != targets_.end() && !it->second.struck_out && !it->second.empty();
  }

  bool above_preemptor(NodeId cohort) const {
    for (NodeId n = query_.queue; n != kNone; n = model_.tree.parent(n))
      if (n == cohort) return true;
    return false;
  }

  /// The child of a cohort with the highest share, down to a queue; kNone after striking one out.
  QueueId descend(NodeId cohort) {
    NodeId best_queue = kNone;
    NodeId best_cohort = kNone;
    Share queue_share;
    Share cohort_share;
    for (const NodeId child : model_.tree.children(cohort)) {
      if (!model_.tree.is_queue(child)) {
        if (struck_cohorts_.contains(child)) continue;
        const Share share = share_of(model_.tree, child);
        if (!share.borrows && !above_preemptor(child)) {
          struck_cohorts_.insert(child);
          continue;
        }
        if (best_cohort == kNone || share >= cohort_share) {
          best_cohort = child;
          cohort_share = share;
        }
        continue;
      }
      if (!usable(child)) continue;
      const Share share = share_of(model_.tree, child);
      if (!share.borrows && child != query_.queue) {
        targets_.at(child).struck_out = true;
        continue;
      }
      if (best_queue == kNone || share > queue_share ||
          (share == queue_share && first_comes_before(child, best_queue))) {
        best_queue = child;
        queue_share = share;
      }
    }
    if (best_queue == kNone && best_cohort == kNone) {
      struck_cohorts_.insert(cohort);
      return kNone;
    }
    if (best_cohort != kNone && (best_queue == kNone || cohort_share >= queue_share))
      return descend(best_cohort);
    return best_queue;
  }

  bool first_comes_before(QueueId a, QueueId b) const {
    const TargetQueue& left = targets_.at(a);
    const TargetQueue& right = targets_.at(b);
    Candidate x = left.candidates[left.next];
    Candidate y = right.candidates[right.next];
    // Between queues the preemptor's own comes last.
    const bool x_own = x.queue == query_.queue;
    const bool y_own = y.queue == query_.queue;
    if (x_own != y_own) return y_own;
    x.kind = y.kind;
    return taken_before(model_, x, y);
  }

  const Model& model_;
  const VictimQuery& query_;
  std::unordered_map<QueueId, TargetQueue>& targets_;
  std::set<NodeId> struck_cohorts_;
};

class FairSearch {
 public:
  FairSearch(Model& model, const VictimQuery& query, const std::vector<FairStrategy>& strategies)
      : model_(model), query_(query), strategies_(strategies), state_(model, query) {}

  std::vector<Victim> run(std::unordered_map<QueueId, TargetQueue> targets) {
    AddedRequest request(model_, query_);
    request_ = &request;
    const bool within_nominal = within_subtree(model_.tree, query_.queue, query_.contested);
    bool found = first_round(targets, within_nominal);
    if (!found && strategies_.size() > 1) found = second_round();
    if (!found) {
      state_.reset();
      return {};
    }
    std::vector<Victim> victims = state_.minimal([&] { return fits(); });
    state_.reset();
    return victims;
  }

 private:
  bool first_round(std::unordered_map<QueueId, TargetQueue>& targets, bool within_nominal) {
    Round round(model_, query_, targets);
    for (QueueId queue = round.next(); queue != kNone; queue = round.next()) {
      TargetQueue& target = targets.at(queue);
      if (queue == query_.queue || within_nominal) {
        const auto reason = queue == query_.queue ? VictimReason::kInClusterQueue
                                                  : VictimReason::kInCohortReclamation;
        if (take(target.candidates[target.next++], reason)) return true;
        continue;
      }
      while (!target.empty()) {
        const Candidate& candidate = target.candidates[target.next++];
        if (passes(strategies_.front(), candidate)) {
          if (take(candidate, VictimReason::kInCohortFairSharing)) return true;
          break;
        }
        kept_[queue].candidates.push_back(candidate);
      }
    }
    return false;
  }

  bool second_round() {
    Round round(model_, query_, kept_);
    for (QueueId queue = round.next(); queue != kNone; queue = round.next()) {
      TargetQueue& target = kept_.at(queue);
      const Candidate& candidate = target.candidates[target.next];
      target.struck_out = true;  // only its first candidate counts
      if (passes(strategies_[1], candidate) && take(candidate, VictimReason::kInCohortFairSharing))
        return true;
    }
    return false;
  }

  /// True when the request fits with it gone.
  bool take(const Candidate& candidate, VictimReason reason) {
    if (state_.taken(candidate.id)) return false;
    state_.take(candidate, reason);
    return fits();
  }

  bool fits() {
    request_->subtract();
    const bool fits = state_.fits(true);
    request_->add();
    return fits;
  }

  /// The shares compared are those of the two children of the lowest common ancestor.
  bool passes(FairStrategy strategy, const Candidate& candidate) {
    const auto [mine, theirs] = below_common_ancestor(query_.queue, candidate.queue);
    const Share preemptor = share_of(model_.tree, mine);
    if (strategy == FairStrategy::kLessThanInitialShare)
      return preemptor < share_of(model_.tree, theirs);
    Removal without(model_);
    without.remove(candidate.id);
    for (const WorkloadId other : model_.evicted_together_with(candidate.id)) without.remove(other);
    return preemptor <= share_of(model_.tree, theirs);
  }

  std::pair<NodeId, NodeId> below_common_ancestor(NodeId a, NodeId b) const {
    const QuotaTree& tree = model_.tree;
    SLUICE_CHECK(tree.root(a) == tree.root(b), tree.name(a), " and ", tree.name(b),
                 " are compared and share no root");
    while (tree.parent(a) != tree.parent(b)) {
      if (tree.depth(a) >= tree.depth(b)) {
        a = tree.parent(a);
      } else {
        b = tree.parent(b);
      }
    }
    return {a, b};
  }

  Model& model_;
  const VictimQuery& query_;
  const std::vector<FairStrategy>& strategies_;
  SearchState state_;
  AddedRequest* request_ = nullptr;
  std::unordered_map<QueueId, TargetQueue> kept_;
};

void collect_below(const Model& model, const VictimQuery& query,
                   const CandidateCollector& collector, NodeId node, std::vector<Candidate>& out) {
  if (!model.tree.is_queue(node)) {
    // An inner node can exceed its quota only through a child that exceeds its own, but a child may
    // exceed below an inner node that does not.
    for (const NodeId child : model.tree.children(node))
      if (!model.tree.is_queue(child) || !within_subtree(model.tree, child, query.contested))
        collect_below(model, query, collector, child, out);
  }
  if (!model.tree.is_queue(node) || node == query.queue) return;
  if (!within_subtree(model.tree, node, query.contested)) collector.collect_other(node, out);
}

}  // namespace

std::vector<Victim> find_fair(Model& model, const hooks::Hooks& hooks,
                              const std::vector<FairStrategy>& strategies,
                              const VictimQuery& query) {
  const CandidateCollector collector(model, query);
  std::vector<Candidate> all;
  collector.collect_own(all);
  if (model.tree.has_parent(query.queue))
    collect_below(model, query, collector, model.tree.root(query.queue), all);
  CandidateCollector::drop_protected(model, hooks, query, all);
  if (all.empty()) return {};
  for (Candidate& c : all) c.kind = CandidateKind::kOwn;  // the order within one queue has no kinds
  std::sort(all.begin(), all.end(),
            [&](const Candidate& a, const Candidate& b) { return taken_before(model, a, b); });
  std::unordered_map<QueueId, TargetQueue> targets;
  for (const Candidate& c : all) targets[c.queue].candidates.push_back(c);
  return FairSearch(model, query, strategies).run(std::move(targets));
}

}  // namespace sluice
