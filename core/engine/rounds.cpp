#include "core/engine/rounds.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/queue_order.hpp"

namespace sluice {
namespace {

/// Idle cycles in a row after which an instant is at rest: a multiple of the period of any scan
/// over up to four flavors (semantics 2).
constexpr int kIdleCycles = 12;

}  // namespace

bool Rounds::run() {
  SLUICE_CHECK(!model_.tree_stale, "a round on a stale tree");
  if (turn_.moved) idle_cycles_ = 0;
  heads_ = {};
  bool any_head = false;
  if (idle_cycles_ < kIdleCycles) {
    ++model_.cycle;
    turn_.moved = false;
    turn_.progress = false;
    held_back_ = false;
    find_heads();
    lifecycle_.find_rechecks(rechecks_);
    any_head = !heads_.empty() || !rechecks_.empty() || turn_.moved || blocked_heads_ > 0;
    if (!any_head) --model_.cycle;
  }
  if (!any_head) {
    turn_.moved = false;
    if (model_.cycle < busy_until_) {
      turn_.stats.cycles += busy_until_ - model_.cycle;
      model_.cycle = busy_until_;
    }
    const bool more = lifecycle_.complete_evictions();
    if (!more) tell_pending();
    return more;
  }
  ++turn_.stats.cycles;
  Cycle cycle(model_, config_, hooks_, parallel_for_);
  const std::vector<std::size_t> order = cycle.run(heads_, rechecks_);
  for (Entry& entry : heads_) entry.note_generations(model_);
  for (Recheck& recheck : rechecks_) lifecycle_.commit(recheck);
  for (const std::size_t i : order) commit(heads_[i]);
  settle_earmarks();
  lifecycle_.complete_evictions();
  const bool busy = model_.cycle <= busy_until_;
  idle_cycles_ = turn_.progress || turn_.moved || busy ? 0 : idle_cycles_ + 1;
  if (idle_cycles_ > 0 && (held_back_ || skip_idle_cycles())) idle_cycles_ = kIdleCycles;
  return true;
}

/// One head per active queue. Heads that may not be nominated are parked, or block their queue.
void Rounds::find_heads() {
  blocked_heads_ = 0;
  if (entries_.size() < model_.queues.size()) entries_.resize(model_.queues.size());
  heads_ = std::span(entries_).first(0);
  model_.maybe_head.keep_if([this](QueueId id) {
    QueueRecord& queue = model_.queues[id];
    if (!queue.active()) return true;
    const auto head = queue.pending.head();
    if (head) take_head(queue, *head);
    return head.has_value();
  });
}

bool Rounds::welcomes(const QueueRecord& queue, const WorkloadRecord& w) const {
  const auto ns = model_.namespaces.find(w.object->meta.ns);
  static const api::LabelMap kNoLabels;
  const api::LabelMap& labels = ns == model_.namespaces.end() ? kNoLabels : ns->second;
  return queue.spec->namespace_selector && queue.spec->namespace_selector->matches(labels);
}

void Rounds::take_head(QueueRecord& queue, WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const bool welcome = welcomes(queue, w);
  const auto invalid =
      std::find_if(w.pod_sets.begin(), w.pod_sets.end(),
                   [](const PodSetRecord& p) { return !p.shape->pod->invalid_resources.empty(); });
  const bool is_invalid = welcome && invalid != w.pod_sets.end();
  if (!welcome || is_invalid) {
    auto why = std::make_shared<PendingReason>();
    why->reason = WaitReason::kMisconfigured;
    why->text = is_invalid ? invalid->shape->pod->invalid_resources
                           : "Workload namespace doesn't match ClusterQueue selector";
    waiting_.set_pending(id, std::move(why));
    if (is_invalid && !queue.best_effort()) {
      ++blocked_heads_;
      return;
    }
    queue.pending.park_alone(id);
    turn_.moved = true;
    return;
  }
  const std::size_t count = heads_.size();
  SLUICE_CHECK(count < entries_.size() && w.queue == queue.id, w.key, " is head ", count, " of ",
               entries_.size(), " queues, of ", queue.name);
  heads_ = std::span(entries_).first(count + 1);
  Entry& entry = heads_[count];
  entry.id = id;
  entry.queue = queue.id;
  entry.status = EntryStatus::kNoRoom;
  entry.key = order_key(model_, id);
}

void Rounds::commit(Entry& entry) {
  WorkloadRecord& w = model_.workloads[entry.id];
  QueueRecord& queue = model_.queues[entry.queue];
  if (w.state != WorkloadState::kPending) return;  // one that replaces it ended it in this cycle
  SLUICE_CHECK(!w.holds_quota() && w.queue == entry.queue && queue.pending.contains(entry.id),
               w.key, " was head of ", queue.name, " and does not wait there");
  if (entry.status == EntryStatus::kReserved || entry.status == EntryStatus::kHeld) {
    if (!config_.block_admission || holdings_.all_pods_ready()) return lifecycle_.reserve(entry);
    auto waits = std::make_shared<PendingReason>();
    waits->reason = WaitReason::kWaitingForPodsReady;
    waits->text = "waiting for all admitted workloads to be in PodsReady condition";
    held_back_ = true;
    return waiting_.set_pending(entry.id, std::move(waits));
  }
  std::shared_ptr<PendingReason> why = reason_of(entry);
  waiting_.set_pending(entry.id, why);
  switch (entry.status) {
    case EntryStatus::kPreempting:
    case EntryStatus::kWaiting:
      issue_preemptions(entry);
      w.scan.reset();
      if (queue.best_effort()) queue.pending.give_place(entry.id, entry.key.anchor);
      return;
    case EntryStatus::kSkipped:
      return record_scan(entry);
    case EntryStatus::kBehind:  // the end of one of those wakes it
      queue.pending.park_alone(entry.id);
      turn_.moved = true;
      return;
    case EntryStatus::kNoRoom:
    case EntryStatus::kReserved:
    case EntryStatus::kHeld:
      break;
  }
  record_scan(entry);
  const Nomination& n = entry.nomination;
  const bool faulty = !n.assignment.fault.empty();
  if (faulty) turn_.faulted.push_back(entry.id);
  if (!queue.best_effort() || (!n.assignment.scan_exhausted() && !n.vetoed && !faulty)) return;
  if (n.vetoed || faulty) {
    queue.pending.park_alone(entry.id);
  } else {
    queue.pending.park_with_equals(entry.id, std::move(why), grounds_of(entry));
    turn_.touched_queues.insert(entry.queue);
  }
  turn_.moved = true;
}

/// Once: those whose end it waits for are evicted already.
void Rounds::issue_preemptions(const Entry& entry) {
  const std::vector<Victim>& victims = entry.nomination.victims;
  if (entry.status == EntryStatus::kWaiting) {
    if (turn_.progress) turn_.decide(DecisionType::kWaitingForVictims, entry.id);
    return;
  }
  if (std::all_of(victims.begin(), victims.end(),
                  [this](const Victim& victim) { return lifecycle_.is_ending(victim.id); }))
    return;
  const int times = model_.history.issued(entry.id, model_.now);
  lifecycle_.preempt(entry.id, entry.queue, victims);
  earmark_after(entry, times);
}

Grounds Rounds::grounds_of(const Entry& entry) const {
  Grounds out;
  out.of = entry.id;
  out.epoch = model_.epoch;
  out.own_usage = entry.own_usage;
  const WorkloadRecord& w = model_.workloads[entry.id];
  const hooks::Traits* traits = w.traits();
  const bool tied = w.unit != kNone || (traits && (traits->has_group || traits->has_replaces));
  const bool partial = std::any_of(w.pod_sets.begin(), w.pod_sets.end(),
                                   [](const PodSetRecord& p) { return p.min_count > 0; });
  const Assignment& a = entry.nomination.assignment;
  out.steady =
      !tied && !partial && !a.other_grounds && entry.resumed_from_start && model_.earmarks.empty();
  if (out.steady) out.looks = a.looks;
  return out;
}

/// A workload that preempts again and again keeps what it needs from others (semantics 8).
void Rounds::earmark_after(const Entry& entry, int times) {
  if (times < 3) return;
  holdings_.earmark(entry.id, {entry.queue, entry.nomination.assignment.usage});
}

/// An earmark ends when its workload was not a head, or one that neither preempts, waits, nor lost.
void Rounds::settle_earmarks() {
  if (model_.earmarks.empty()) return;
  std::vector<WorkloadId> ended;
  for (const auto& [id, earmark] : model_.earmarks) {
    const bool goes_on = std::any_of(heads_.begin(), heads_.end(), [id = id](const Entry& e) {
      return e.id == id && e.status != EntryStatus::kNoRoom && e.status != EntryStatus::kReserved;
    });
    if (!goes_on) ended.push_back(id);
  }
  for (const WorkloadId id : ended) holdings_.drop_earmark(id);
}

void Rounds::record_scan(const Entry& entry) {
  WorkloadRecord& w = model_.workloads[entry.id];
  if (!w.scan) w.scan = std::make_unique<ScanPosition>();
  w.scan->positions = entry.nomination.assignment.positions;
  w.scan->cycle = model_.cycle;
  w.scan->queue_generation = entry.queue_generation;
  w.scan->tree_generation = entry.tree_generation;
  w.scan->shape = w.shape;
  w.scan->priority = w.priority;
}

/// After a cycle that changed nothing, with every scan at its end, the cycles that follow are the
/// same again: they are counted, not computed.
bool Rounds::skip_idle_cycles() {
  if (!model_.earmarks.empty()) return false;
  for (const Entry& entry : heads_) {
    const bool waits =  // for the ends of evictions; its walk begins anew each time
        entry.status == EntryStatus::kPreempting || entry.status == EntryStatus::kWaiting;
    if (!waits && entry.status != EntryStatus::kNoRoom && entry.status != EntryStatus::kSkipped)
      return false;
    if (!waits && !entry.nomination.assignment.scan_exhausted()) return false;
    if (!entry.resumed_from_start) return false;
  }
  SLUICE_CHECK(idle_cycles_ > 0 && idle_cycles_ <= kIdleCycles, idle_cycles_,
               " idle cycles in a row, of ", kIdleCycles);
  const auto rest = static_cast<std::uint64_t>(kIdleCycles - idle_cycles_);
  model_.cycle += rest;
  turn_.stats.cycles += rest;
  for (const Entry& entry : heads_)
    if (ScanPosition* scan = model_.workloads[entry.id].scan.get()) scan->cycle = model_.cycle;
  return true;
}

}  // namespace sluice
