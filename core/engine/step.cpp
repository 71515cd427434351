// One step of an instant: wake, one cycle, commit.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/state.hpp"

namespace sluice {
namespace {

/// Idle cycles in a row after which an instant is at rest: a multiple of the period of any scan
/// over up to four flavors (semantics 2).
constexpr int kIdleCycles = 12;

}  // namespace

bool EngineState::step(std::vector<Decision>& out) {
  out.clear();
  sync();
  if (moved_) idle_cycles_ = 0;
  heads_ = {};
  bool any_head = false;
  if (idle_cycles_ < kIdleCycles) {
    ++model.cycle;
    moved_ = false;
    progress_ = false;
    held_back_ = false;
    find_heads();
    find_rechecks();
    any_head = !heads_.empty() || !rechecks_.empty() || moved_ || blocked_heads_ > 0;
    if (!any_head) --model.cycle;
  }
  if (!any_head) {
    moved_ = false;
    const bool more = complete_evictions();
    if (!more) tell_pending();
    std::swap(out, decisions_);
    return more;
  }
  ++stats.cycles;
  Cycle cycle(model, config_, hooks_, parallel_for_);
  const std::vector<std::size_t> order = cycle.run(heads_, rechecks_);
  for (Entry& entry : heads_) entry.note_generations(model);
  for (Recheck& recheck : rechecks_) commit(recheck);
  for (const std::size_t i : order) commit(heads_[i]);
  settle_claims();
  complete_evictions();
  idle_cycles_ = progress_ || moved_ ? 0 : idle_cycles_ + 1;
  if (idle_cycles_ > 0 && (held_back_ || skip_idle_cycles())) idle_cycles_ = kIdleCycles;
  std::swap(out, decisions_);
  return true;
}

/// One head per active queue. Heads that may not be nominated are parked, or block their queue.
void EngineState::find_heads() {
  blocked_heads_ = 0;
  if (entries_.size() < model.queues.size()) entries_.resize(model.queues.size());
  heads_ = std::span(entries_).first(0);
  for (QueueId id = 0; id < maybe_head_.size(); ++id) {
    if (maybe_head_[id] == 0) continue;
    QueueRecord& queue = model.queues[id];
    if (!queue.active()) continue;
    if (const auto head = queue.pending.head()) {
      take_head(queue, *head);
    } else {
      maybe_head_[id] = 0;
    }
  }
}

const char* EngineState::not_nominated_because(const QueueRecord& queue,
                                               const WorkloadRecord& w) const {
  const auto ns = model.namespaces.find(w.object->meta.ns);
  static const api::LabelMap kNoLabels;
  const api::LabelMap& labels = ns == model.namespaces.end() ? kNoLabels : ns->second;
  if (!queue.spec->namespace_selector || !queue.spec->namespace_selector->matches(labels))
    return "Workload namespace doesn't match ClusterQueue selector";
  for (const PodSetRecord& p : w.pod_sets)
    if (!p.shape->pod->invalid_resources.empty()) return "resources validation failed: ";
  return nullptr;
}

void EngineState::take_head(QueueRecord& queue, WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  if (const char* because = not_nominated_because(queue, w)) {
    auto why = std::make_shared<PendingReason>();
    why->reason = WaitReason::kMisconfigured;
    why->text = because;
    bool invalid = false;
    for (const PodSetRecord& p : w.pod_sets) {
      if (!why->text.ends_with(": ") || p.shape->pod->invalid_resources.empty()) continue;
      why->text += p.shape->pod->invalid_resources;
      invalid = true;
    }
    set_pending(w, id, std::move(why));
    if (invalid && !queue.best_effort()) {
      ++blocked_heads_;
      return;
    }
    queue.pending.park_alone(id);
    moved_ = true;
    return;
  }
  const std::size_t count = heads_.size();
  heads_ = std::span(entries_).first(count + 1);
  Entry& entry = heads_[count];
  entry.id = id;
  entry.queue = queue.id;
  entry.status = EntryStatus::kNoRoom;
  entry.key = order_key(model, id);
}

void EngineState::commit(Entry& entry) {
  WorkloadRecord& w = model.workloads[entry.id];
  QueueRecord& queue = model.queues[entry.queue];
  if (w.state != WorkloadState::kPending) return;  // one that replaces it ended it in this cycle
  if (entry.status == EntryStatus::kReserved || entry.status == EntryStatus::kHeld) {
    if (!config_.block_admission || all_pods_ready()) return reserve(entry);
    auto waits = std::make_shared<PendingReason>();
    waits->reason = WaitReason::kWaitingForPodsReady;
    waits->text = "waiting for all admitted workloads to be in PodsReady condition";
    held_back_ = true;
    return set_pending(w, entry.id, std::move(waits));
  }
  std::shared_ptr<PendingReason> why = explain(entry);
  set_pending(w, entry.id, why);
  switch (entry.status) {
    case EntryStatus::kPreempting:
    case EntryStatus::kWaiting:
      if (entry.status == EntryStatus::kPreempting) {
        const int times = model.history.issued(entry.id, model.now);
        preempt(entry.id, entry.queue, entry.nomination.victims);
        claim_after(entry, times);
      } else {
        decide(DecisionType::kWaitingForVictims, entry.id);
      }
      w.scan.reset();
      if (queue.best_effort()) queue.pending.give_place(entry.id, entry.key.anchor);
      return;
    case EntryStatus::kSkipped:
      return record_scan(entry);
    case EntryStatus::kBehind:  // the end of one of those wakes it
      queue.pending.park_alone(entry.id);
      moved_ = true;
      return;
    case EntryStatus::kNoRoom:
    case EntryStatus::kReserved:
    case EntryStatus::kHeld:
      break;
  }
  record_scan(entry);
  const Nomination& n = entry.nomination;
  const bool faulty = !n.assignment.fault.empty();
  if (!queue.best_effort() || (!n.assignment.scan_exhausted() && !n.vetoed && !faulty)) return;
  if (n.vetoed || faulty) {
    queue.pending.park_alone(entry.id);
  } else {
    queue.pending.park_with_equals(entry.id, std::move(why));
    touched_queues_.insert(entry.queue);
  }
  moved_ = true;
}

void EngineState::preempt(WorkloadId id, QueueId queue, std::span<const Victim> victims) {
  const WorkloadRecord& w = model.workloads[id];
  const std::string* job = w.object->meta.labels.find("kueue.x-k8s.io/job-uid");
  for (const Victim& victim : victims) {
    const WorkloadRecord& v = model.workloads[victim.id];
    if (!v.holds_quota()) continue;  // taken along by another's victim, from another root
    Decision why;
    why.reason = "Preempted";
    why.preemption = to_string(victim.reason);
    why.by = w.key;
    why.message = "Preempted to accommodate a workload (UID: " + w.uid +
                  ", JobUID: " + (job ? *job : "UNKNOWN") + ") due to " + describe(victim.reason) +
                  "; preemptor path: " + model.tree.path(queue) +
                  "; preemptee path: " + model.tree.path(v.holding->queue);
    model.history.evicted(id, victim.id, model.now);
    evict(victim.id, why);
    // The search looks at one root; those of other roots that go along are evicted here.
    for (const WorkloadId other : model.bound_to(victim.id)) {
      const bool victim_too = std::any_of(victims.begin(), victims.end(),
                                          [&](const Victim& each) { return each.id == other; });
      if (!victim_too && model.workloads[other].holds_quota()) evict(other, why);
    }
  }
}

/// Who preempts again and again keeps what it needs from others (semantics 8).
void EngineState::claim_after(const Entry& entry, int times) {
  if (times < 3) return;
  drop_claim(entry.id);
  Claim claim{entry.queue, entry.nomination.assignment.usage};
  model.ledger.add(claim.queue, claim.usage);
  model.claims.emplace(entry.id, std::move(claim));
}

/// A claim ends when its workload was not a head, or one that neither preempts, waits, nor lost.
void EngineState::settle_claims() {
  if (model.claims.empty()) return;
  std::vector<WorkloadId> ended;
  for (const auto& [id, claim] : model.claims) {
    const bool goes_on = std::any_of(heads_.begin(), heads_.end(), [id = id](const Entry& e) {
      return e.id == id && e.status != EntryStatus::kNoRoom && e.status != EntryStatus::kReserved;
    });
    if (!goes_on) ended.push_back(id);
  }
  for (const WorkloadId id : ended) drop_claim(id);
}

void EngineState::record_scan(Entry& entry) {
  WorkloadRecord& w = model.workloads[entry.id];
  if (!w.scan) w.scan = std::make_unique<ScanPosition>();
  w.scan->positions = entry.nomination.assignment.positions;
  w.scan->cycle = model.cycle;
  w.scan->queue_generation = entry.queue_generation;
  w.scan->tree_generation = entry.tree_generation;
  w.scan->shape = w.shape;
  w.scan->priority = w.priority;
}

/// After a cycle that changed nothing, with every scan at its end, the cycles that follow are the
/// same again: they are counted, not computed.
bool EngineState::skip_idle_cycles() {
  if (!model.claims.empty()) return false;
  for (const Entry& entry : heads_) {
    if (entry.status != EntryStatus::kNoRoom && entry.status != EntryStatus::kSkipped) return false;
    if (!entry.nomination.assignment.scan_exhausted()) return false;
    if (!entry.resumed_from_start) return false;
  }
  const auto rest = static_cast<std::uint64_t>(kIdleCycles - idle_cycles_);
  model.cycle += rest;
  stats.cycles += rest;
  for (const Entry& entry : heads_)
    if (ScanPosition* scan = model.workloads[entry.id].scan.get()) scan->cycle = model.cycle;
  return true;
}

std::shared_ptr<PendingReason> EngineState::explain(Entry& entry) const {
  auto why = std::make_shared<PendingReason>();
  Nomination& n = entry.nomination;
  why->cycle = model.cycle;
  why->flavors = n.assignment.reasons;
  why->object = model.workloads[entry.id].object;
  why->reason = rank_reasons(why->flavors);
  if (!n.assignment.fault.empty()) {
    why->reason = WaitReason::kPending;
    why->flavors.clear();
    why->text = n.assignment.fault;
  } else if (n.vetoed) {
    why->text = n.veto_reason;
    why->by = n.vetoed_by;
  } else if (entry.status == EntryStatus::kPreempting) {
    why->reason = WaitReason::kWaitingForPreemptedWorkloads;
    why->text = "Pending the preemption of " + std::to_string(n.victims.size()) + " workload(s)";
  } else if (entry.status == EntryStatus::kWaiting) {
    why->reason = WaitReason::kWaitingForPreemptedWorkloads;
    why->text = "Workload has overlapping preemption targets with another workload";
  } else if (entry.status == EntryStatus::kBehind) {
    why->reason = WaitReason::kWaitingForPreemptedWorkloads;
    why->text =
        "Workload fits only on capacity that still runs workloads to be preempted by others";
    why->flavors.clear();
  } else if (entry.status == EntryStatus::kSkipped) {
    why->reason = WaitReason::kWaitingForQuota;
    why->text = "Workload no longer fits after processing another workload";
    why->flavors.clear();
  }
  return why;
}

/// At rest: a decision for every workload whose reason to wait is another than it was told last.
void EngineState::tell_pending() {
  for (const QueueId id : touched_queues_) model.queues[id].pending.collect_untold(touched_);
  touched_queues_.clear();
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  // Equals share one reason: its text is made once.
  std::shared_ptr<const PendingReason> last;
  std::uint64_t digest = 0;
  std::string message;
  for (const WorkloadId id : touched_) {
    WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || w.state != WorkloadState::kPending) continue;
    std::shared_ptr<const PendingReason> why = pending_reason(model, w, id);
    if (!why) continue;
    if (why != last) {
      digest = why->digest();
      message.clear();
    }
    last = std::move(why);
    if (digest == w.logged_pending) continue;
    if (message.empty()) message = last->message(model.frs);
    const bool told = w.logged_pending == WorkloadRecord::kToldInStatus &&
                      told_in_status(model, w, to_string(last->reason), message);
    w.logged_pending = digest;
    if (told) continue;
    Decision& decision = decide(DecisionType::kPending, id);
    decision.reason = to_string(last->reason);
    decision.message = message;
  }
  touched_.clear();
}

}  // namespace sluice
