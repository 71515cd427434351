#include "core/engine/waking.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/parked_reasons.hpp"

namespace sluice {
namespace {

/// Queues that are looked at one by one because their tree has what they lack; more of them are
/// woken.
constexpr int kMostSuspects = 64;

}  // namespace

Waking::Woken Waking::wake(bool all) {
  Woken out;
  SLUICE_CHECK(!model_.tree_stale, "a stale tree is woken");
  const std::vector<Structure::DirtyTree> dirty = structure_.take_dirty_trees();
  if (dirty.empty()) return out;
  out.trees = true;
  sort_notes();
  const bool may = !all && can_be_quiet();
  for (const auto& [root, changed] : dirty) {
    if (!may || changed || !is_quiet(root)) {
      out.workloads |= wake_all(root);
      continue;
    }
    Tree& tree = trees_[root];
    for (const QueueId id : tree.with_empty) model_.queues[id].pending.open_empty();
    tree.with_empty.clear();
    model_.tree.mark(root);
    model_.quiet_cycles[root] = model_.cycle + 1;
    if (tree.classes.empty()) continue;
    ++out.quiet;
    out.workloads = true;
    out.cycles = std::max<std::uint64_t>(out.cycles, tree.classes.rbegin()->first);
  }
  return out;
}

bool Waking::wake_all(NodeId root) {
  bool moved = false;
  std::vector<NodeId> open = {root};
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (model_.tree.is_queue(node) && model_.queues[node].pending.anything_parked()) {
      tell_as_of_wake(model_, model_.queues[node]);
      model_.maybe_head.insert(node);
      moved |= model_.queues[node].pending.wake();
    }
    for (const NodeId child : model_.tree.children(node)) open.push_back(child);
  }
  return moved;
}

/// To each tree its queues that changed. After a change of configuration that is all of them.
void Waking::sort_notes() {
  if (std::exchange(epoch_, model_.epoch) != model_.epoch) {
    trees_.clear();
    summaries_.clear();
    for (const QueueRecord& queue : model_.queues)
      trees_[model_.tree.root(queue.id)].noted.insert(queue.id);
  }
  for (const QueueId id : model_.noted) {
    SLUICE_CHECK(id < model_.tree.node_count(), "queue ", id, " is noted and has no node");
    model_.queues[id].pending.forget_note();
    trees_[model_.tree.root(id)].noted.insert(id);
  }
  model_.noted.clear();
}

/// What lets usage change without a wake, or makes an answer depend on other workloads. Vetoes take
/// victims away and add none, and a plugin says for which parked workload one of its own is over.
bool Waking::can_be_quiet() const {
  return model_.earmarks.empty() && model_.held.empty() && model_.together.empty();
}

/// Would every parked class be parked again, with the same reasons, and is there nothing else to
/// look at?
bool Waking::is_quiet(NodeId root) {
  Tree& tree = trees_[root];
  while (!tree.noted.empty()) {
    if (!summarize(tree, *tree.noted.begin())) return false;
    tree.noted.erase(tree.noted.begin());
  }
  return !somebody_may_fit(root, tree);
}

void Waking::withdraw(Tree& tree, QueueId id) {
  tree.with_empty.erase(id);
  const auto it = summaries_.find(id);
  if (it == summaries_.end()) return;
  const Summary& summary = it->second;
  const auto unlist = [id](std::map<FrId, Listed>& lists,
                           const std::vector<std::pair<FrId, Amount>>& listed) {
    for (const auto& [fr, amount] : listed) {
      const auto list = lists.find(fr);
      SLUICE_CHECK(list != lists.end() && list->second.erase({amount, id}) == 1, "queue ", id,
                   " is not listed with ", amount, " of fr ", fr);
      if (list->second.empty()) lists.erase(list);
    }
  };
  unlist(tree.lacks, summary.lacks_at_root);
  unlist(tree.has, summary.has_at_root);
  if (summary.classes > 0) {
    const auto count = tree.classes.find(summary.classes);
    SLUICE_CHECK(count != tree.classes.end(), "no queue has ", summary.classes, " classes");
    if (--count->second == 0) tree.classes.erase(count);
  }
  summaries_.erase(it);
}

/// False: something there has to be looked at.
bool Waking::summarize(Tree& tree, QueueId id) {
  withdraw(tree, id);
  QueueRecord& queue = model_.queues[id];
  PendingQueue& pending = queue.pending;
  if (!queue.active()) return !pending.anything_parked();
  if (pending.head() || !pending.parked_alone().empty() || pending.place()) return false;
  if (!pending.anything_parked()) return true;
  Summary summary;
  const bool steady = pending.each_parked(
      [&](WorkloadId first, Grounds& grounds, const std::shared_ptr<const PendingReason>& why) {
        ++summary.classes;
        return is_as_before(queue, first, grounds, *why) && add_class(queue, grounds, summary);
      });
  if (!steady || !list_at_root(queue, summary)) return false;
  if (pending.has_empty_parked()) tree.with_empty.insert(id);
  if (summary.classes > 0) ++tree.classes[summary.classes];
  for (const auto& [fr, amount] : summary.lacks_at_root) tree.lacks[fr].emplace(amount, id);
  for (const auto& [fr, amount] : summary.has_at_root) tree.has[fr].emplace(amount, id);
  summaries_.emplace(id, std::move(summary));
  return true;
}

/// Is what was found when the class was parked still the answer, as far as its own queue goes? If
/// that changed, its first member is looked at as in a cycle, which leaves everything as it was.
bool Waking::is_as_before(const QueueRecord& queue, WorkloadId first, Grounds& grounds,
                          const PendingReason& why) {
  if (grounds.of != first || grounds.epoch != model_.epoch) return false;
  const Rests before = rests(queue, grounds);
  if (before == Rests::kOnMore) return false;
  if (before == Rests::kOnNothing || grounds.own_usage == queue.own_usage) return true;
  ++model_.cycle;  // as in the one that would be next
  nominator_.nominate(first, queue.id, nomination_);
  --model_.cycle;
  const Assignment& a = nomination_.assignment;
  if (nomination_.fits() || nomination_.preempts() || nomination_.vetoed || !a.fault.empty() ||
      !a.scan_exhausted() || a.other_grounds)
    return false;
  PendingReason now;
  now.flavors = a.reasons;
  now.reason = rank_reasons(now.flavors);
  if (now.digest() != why.digest()) return false;
  grounds.looks = a.looks;
  grounds.own_usage = queue.own_usage;
  return rests(queue, grounds) != Rests::kOnMore;
}

bool Waking::is_flat(QueueId queue) const {
  const NodeId parent = model_.tree.parent(queue);
  return parent == kNone || !model_.tree.has_parent(parent);
}

/// Is "preemption may help" (semantics 4.2) another answer when only other queues changed, and
/// would it show?
bool Waking::answer_may_flip(const QueueRecord& queue, const Grounds& grounds) const {
  const api::Preemption& policy = queue.spec->preemption;
  const bool always =
      policy.borrow_within_cohort ||
      (config_.fair_sharing && policy.reclaim_within_cohort != api::ReclaimWithinCohort::kNever);
  const bool within_nominal =
      std::all_of(grounds.looks.begin(), grounds.looks.end(), [&](const Look& look) {
        return look.fits || model_.tree.nominal(queue.id, look.fr) >= look.amount;
      });
  if (always || within_nominal) return false;
  // With one resource of one pod set NoFit and NoCandidates end alike.
  const WorkloadRecord& w = model_.workloads[grounds.of];
  return w.pod_sets.size() > 1 || w.pod_sets.front().shape->requests.size() > 1 ||
         queue.pods_resource != kNone;
}

Waking::Rests Waking::rests(const QueueRecord& queue, const Grounds& grounds) const {
  if (!grounds.steady) return Rests::kOnMore;
  const api::Preemption& policy = queue.spec->preemption;
  const bool own = policy.within_cluster_queue != api::WithinClusterQueue::kNever;
  const bool others = policy.reclaim_within_cohort != api::ReclaimWithinCohort::kNever &&
                      model_.tree.has_parent(queue.id);
  const bool flat = is_flat(queue.id);
  const bool one_pod_set = model_.workloads[grounds.of].pod_sets.size() == 1;
  if (others && hooks_.preemption_veto) return Rests::kOnMore;  // its reason shows who is protected
  // One that borrows without the right to preempt for that takes no victims from other queues: in a
  // cohort that is the root its queue's usage shows that.
  if (others && (!flat || config_.fair_sharing || policy.borrow_within_cohort))
    return Rests::kOnMore;
  const bool plain = one_pod_set && !hooks_.flavor_search && !answer_may_flip(queue, grounds);
  if (plain && !own && !others) return Rests::kOnNothing;
  if (flat) return Rests::kOnQueue;
  return plain ? Rests::kOnQueue : Rests::kOnMore;
}

/// What its own queue's workloads hold that it might evict.
Amount Waking::freed_by_own(const QueueRecord& queue, const WorkloadRecord& w, FrId fr) const {
  const api::WithinClusterQueue policy = queue.spec->preemption.within_cluster_queue;
  if (policy == api::WithinClusterQueue::kNever || queue.holder_priorities.empty()) return 0;
  const bool equals = policy == api::WithinClusterQueue::kLowerOrNewerEqualPriority;
  const auto takes = [&](std::int32_t priority) {
    return priority < w.priority || (equals && priority == w.priority);
  };
  if (!takes(queue.holder_priorities.begin()->first)) return 0;
  Amount out = 0;
  for (const WorkloadId id : queue.holders) {
    const WorkloadRecord& holder = model_.workloads[id];
    if (!takes(holder.priority)) continue;
    for (const FrAmount& used : holder.holding->usage)
      if (used.fr == fr) out = add_saturating(out, used.amount);
  }
  return out;
}

/// False: the comparisons come out otherwise now, or may change without a mark in this tree.
bool Waking::add_class(const QueueRecord& queue, const Grounds& grounds, Summary& out) const {
  const QuotaTree& tree = model_.tree;
  const WorkloadRecord& w = model_.workloads[grounds.of];
  const bool others =
      queue.spec->preemption.reclaim_within_cohort != api::ReclaimWithinCohort::kNever &&
      tree.has_parent(queue.id);
  for (const Look& look : grounds.looks) {
    const Amount available = std::max<Amount>(0, tree.available(queue.id, look.fr));
    auto limits = std::find_if(out.limits.begin(), out.limits.end(),
                               [&](const Summary::Limits& each) { return each.fr == look.fr; });
    if (limits == out.limits.end())
      limits = out.limits.insert(limits, {look.fr, std::nullopt, std::nullopt});
    if (look.fits) {
      if (look.amount > available) return false;
      if (look.amount > 0) limits->has = std::max(limits->has.value_or(0), look.amount);
      continue;
    }
    const Amount freed = freed_by_own(queue, w, look.fr);
    if (freed > 0 && hooks_.preemption_veto) return false;  // as above
    const Amount lacks = look.amount - freed;
    if (lacks <= available) return false;
    if (others && !tree.borrows_with(queue.id, look.fr, lacks)) return false;
    limits->lacks = std::min(limits->lacks.value_or(lacks), lacks);
  }
  return true;
}

/// From what is available in the queue to what is available at the root. Inner cohorts may add
/// what they never lend, all of it; what they limit is not looked at from below.
bool Waking::list_at_root(const QueueRecord& queue, Summary& summary) const {
  const QuotaTree& tree = model_.tree;
  const NodeId parent = tree.parent(queue.id);
  for (const Summary::Limits& each : summary.limits) {
    const FrId fr = each.fr;
    Amount own = 0, inner = 0;
    Wide ceiling = kUnlimited;
    if (parent != kNone) {
      own = tree.local_available(queue.id, fr);
      if (const Amount limit = tree.borrowing_limit(queue.id, fr); limit != kUnlimited)
        ceiling = Wide{own} + (Wide{tree.subtree(queue.id, fr)} - tree.local(queue.id, fr)) -
                  std::max<Wide>(0, tree.usage(queue.id, fr) - tree.local(queue.id, fr)) + limit;
      for (NodeId node = parent; tree.has_parent(node); node = tree.parent(node)) {
        inner = add_saturating(inner, tree.local(node, fr));
        if (each.has && tree.borrowing_limit(node, fr) != kUnlimited) return false;
      }
    }
    if (each.lacks && *each.lacks <= ceiling)
      summary.lacks_at_root.emplace_back(fr, saturate(Wide{*each.lacks} - own - inner));
    if (each.has) summary.has_at_root.emplace_back(fr, saturate(Wide{*each.has} - own));
  }
  return true;
}

bool Waking::somebody_may_fit(NodeId root, const Tree& tree) const {
  int suspects = 0;
  const auto limits_of = [&](QueueId id, FrId fr) {
    const std::vector<Summary::Limits>& all = summaries_.at(id).limits;
    return *std::find_if(all.begin(), all.end(), [fr](const auto& each) { return each.fr == fr; });
  };
  for (const auto& [fr, listed] : tree.lacks) {
    const Amount there = model_.tree.available(root, fr);
    for (auto it = listed.begin(); it != listed.end() && it->first <= there; ++it) {
      if (++suspects > kMostSuspects) return true;
      const Amount available = std::max<Amount>(0, model_.tree.available(it->second, fr));
      if (*limits_of(it->second, fr).lacks <= available) return true;
    }
  }
  for (const auto& [fr, listed] : tree.has)
    if (listed.rbegin()->first > model_.tree.available(root, fr)) return true;
  return false;
}

}  // namespace sluice
