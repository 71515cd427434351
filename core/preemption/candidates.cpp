#include "core/preemption/candidates.hpp"

#include <algorithm>
#include <tuple>

#include "core/base/check.hpp"

namespace sluice {
bool uses_any(const Holding& holding, std::span<const FrId> frs) {
  for (const FrAmount& used : holding.usage)
    for (const FrId fr : frs)
      if (used.fr == fr) return true;
  return false;
}

bool within_subtree(const QuotaTree& tree, NodeId node, std::span<const FrId> frs) {
  return std::none_of(frs.begin(), frs.end(),
                      [&](FrId fr) { return tree.exceeds_subtree(node, fr); });
}

bool some_child_exceeds(const QuotaTree& tree, NodeId node, std::span<const FrId> frs) {
  return std::any_of(frs.begin(), frs.end(),
                     [&](FrId fr) { return tree.any_child_exceeds(node, fr); });
}

CandidateCollector::CandidateCollector(const Model& model, const VictimQuery& query)
    : model_(model),
      query_(query),
      preemptor_(model.workloads[query.preemptor]),
      policy_(model.queues[query.queue].spec->preemption),
      order_time_(queue_order_time(model, preemptor_)) {}

bool CandidateCollector::eligible(WorkloadId id) const {
  const WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.holds_quota(), w.key, " is a candidate and holds nothing");
  if (w.gone || id == query_.preemptor) return false;
  if (!uses_any(*w.holding, query_.contested)) return false;
  return !model_.history.blocked(query_.preemptor, id, model_.now);
}

void CandidateCollector::collect_own(std::vector<Candidate>& out) const {
  if (policy_.within_cluster_queue == api::WithinClusterQueue::kNever) return;
  const bool newer_equal =
      policy_.within_cluster_queue == api::WithinClusterQueue::kLowerOrNewerEqualPriority;
  const QueueRecord& queue = model_.queues[query_.queue];
  if (queue.holders.empty()) return;
  const std::int32_t lowest = queue.holder_priorities.begin()->first;
  if (lowest > preemptor_.priority || (lowest == preemptor_.priority && !newer_equal)) return;
  for (const WorkloadId id : queue.holders) {
    const WorkloadRecord& w = model_.workloads[id];
    const bool lower = w.priority < preemptor_.priority;
    const bool newer = newer_equal && w.priority == preemptor_.priority &&
                       queue_order_time(model_, w) > order_time_;
    if (!(lower || newer) || !eligible(id)) continue;
    out.push_back({id, query_.queue, CandidateKind::kOwn, false, w.evicting, kNone, w.priority,
                   w.holding->reserved_at, w.uid.number()});
  }
}

void CandidateCollector::collect_other(QueueId queue, std::vector<Candidate>& out) const {
  if (policy_.reclaim_within_cohort == api::ReclaimWithinCohort::kNever) return;
  const bool any = policy_.reclaim_within_cohort == api::ReclaimWithinCohort::kAny;
  if (!model_.queues[queue].active()) return;
  for (const WorkloadId id : model_.queues[queue].holders) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!(any || w.priority < preemptor_.priority) || !eligible(id)) continue;
    out.push_back({id, queue, CandidateKind::kPriority, false, w.evicting, kNone, w.priority,
                   w.holding->reserved_at, w.uid.number()});
  }
}

void CandidateCollector::drop_protected(const Model& model, const hooks::Hooks& hooks,
                                        const VictimQuery& query,
                                        std::vector<Candidate>& candidates) {
  // Nobody is protected from an eviction that was decided.
  const auto asked = static_cast<std::size_t>(std::count_if(
      candidates.begin(), candidates.end(), [](const Candidate& each) { return !each.evicting; }));
  if (!hooks.preemption_veto || asked == 0) return;
  std::vector<const api::Workload*> objects;
  objects.reserve(asked);
  std::vector<Time> admitted_at;
  admitted_at.reserve(asked);
  for (const Candidate& c : candidates) {
    if (c.evicting) continue;
    const WorkloadRecord& w = model.workloads[c.id];
    objects.push_back(w.object.get());
    const ConditionRecord* admitted = w.if_true(ConditionRecord::Type::kAdmitted);
    admitted_at.push_back(admitted ? admitted->time : 0);
  }
  hooks::VetoAnswer answer;
  answer.protected_.assign(asked, 0);
  hooks::Fault fault;
  hooks.preemption_veto->veto({*model.workloads[query.preemptor].object, query.queue, objects,
                               model.queues[query.queue].spec.get(), admitted_at},
                              answer, fault);
  SLUICE_CHECK(answer.protected_.size() == asked, answer.protected_.size(), " answers about ",
               asked, " candidates");
  const bool none = fault || answer.may_not_preempt;
  std::size_t kept = 0, at = 0;
  for (const Candidate& each : candidates)  // those kept move to the front, in their order
    if (each.evicting || (answer.protected_[at++] == 0 && !none)) candidates[kept++] = each;
  if (query.note && kept < candidates.size()) {
    query.note->hands_off = true;
    query.note->reason = std::move(answer.reason);
    query.note->by = std::move(answer.by);
    query.note->fault = std::move(fault);
  }
  candidates.resize(kept);
}

bool taken_before(const Model& model, const Candidate& a, const Candidate& b) {
  if (a.evicting != b.evicting) return a.evicting;
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.reserved_at != b.reserved_at) return a.reserved_at > b.reserved_at;
  if (a.uid.known && b.uid.known)
    if (const auto order = a.uid <=> b.uid; order != 0) return order < 0;
  const WorkloadRecord& left = model.workloads[a.id];
  const WorkloadRecord& right = model.workloads[b.id];
  return std::tie(left.uid, left.key) < std::tie(right.uid, right.key);
}

}  // namespace sluice
