#include "core/engine/lifecycle.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/engine/checks.hpp"
#include "core/engine/workload_views.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {
namespace {

/// A workload that is off does not queue again by itself; its tries are counted anew.
void forget_backoff(WorkloadRecord& w) {
  if (!w.extras) return;
  w.extras->requeue = {};
  w.extras->backing_off = false;
}

}  // namespace

using Type = ConditionRecord::Type;

Lifecycle::Lifecycle(const Parts& parts)
    : model_(parts.model),
      config_(parts.config),
      hooks_(parts.hooks),
      turn_(parts.turn),
      structure_(parts.structure),
      relations_(parts.relations),
      holdings_(parts.holdings),
      waiting_(parts.waiting),
      representation_(parts.representation),
      texts_{model_.texts.intern("Admitted"), model_.texts.intern("The workload is admitted")} {}

void Lifecycle::reserve(const Entry& entry) {
  const WorkloadId id = entry.id;
  WorkloadRecord& w = model_.workloads[id];
  QueueRecord& queue = model_.queues[entry.queue];
  SLUICE_CHECK(w.state == WorkloadState::kPending && !w.holds_quota(), w.key, " reserves in state ",
               static_cast<int>(w.state));
  SLUICE_CHECK(w.queue == entry.queue && queue.pending.contains(id), w.key, " reserves in ",
               queue.name, " and does not wait there");
  queue.pending.erase(id);
  queue.pending.free_place(id);
  holdings_.drop_earmark(id);
  w.scan.reset();
  w.pending.reset();
  w.logged_pending = 0;
  ++w.epoch;

  auto holding = std::make_unique<Holding>();
  holding->queue = entry.queue;
  holding->reserved_at = model_.now;
  bool borrowing = false;
  const Assignment& assignment = entry.nomination.assignment;
  holding->pod_sets.resize(assignment.counts.size());
  for (std::size_t i = 0; i < assignment.counts.size(); ++i)
    holding->pod_sets[i].count = assignment.counts[i];
  for (const ResourceChoice& r : assignment.choices) {
    holding->pod_sets[r.pod_set].flavors.emplace_back(r.resource, model_.frs.flavor_of(r.fr));
    borrowing |= r.level > 0;
  }
  const bool at_once =
      std::none_of(queue.checks.begin(), queue.checks.end(),
                   [&](const QueueCheck& check) { return check.applies_to(*holding); });
  if (at_once) end_replaced(id);
  holdings_.hold(id, std::move(holding));
  if (entry.status == EntryStatus::kHeld) {
    std::vector<WorkloadId> victims;
    for (const Victim& victim : entry.nomination.victims) victims.push_back(victim.id);
    holdings_.plan(id, victims);
  }
  structure_.bump_generation(entry.queue);
  w.state = WorkloadState::kQuotaReserved;
  say_reserved(model_, w, queue);
  decide(DecisionType::kQuotaReserved, id).borrowing = borrowing;
  turn_.progress = true;
  waiting_.list_checks(id);
  if (!at_once) return settle_checks(id);
  start(id);
}

void Lifecycle::admit(WorkloadId id) {
  end_replaced(id);
  start(id);
}

void Lifecycle::start(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.state == WorkloadState::kQuotaReserved && w.holds_quota(), w.key,
               " is admitted in state ", static_cast<int>(w.state));
  w.state = WorkloadState::kAdmitted;
  count_holding(model_, id);
  set_condition(model_, w, Type::kAdmitted, true, texts_.admitted, texts_.is_admitted);
  decide(DecisionType::kAdmitted, id);
  ++turn_.stats.admissions;
  turn_.progress = true;
  start_timers(id);
  representation_.touch(id);
}

/// For how long it ran so far, in all its admissions.
std::int32_t Lifecycle::seconds_run(const WorkloadRecord& w) const {
  const std::int32_t past = w.extras ? w.extras->past_execution_seconds : 0;
  const ConditionRecord* since = w.condition(Type::kAdmitted);
  if (w.state != WorkloadState::kAdmitted || !since) return past;
  return past + static_cast<std::int32_t>((model_.now - since->time) / kSecond);
}

/// Its admission ends what it replaces, in the same commit, as its traits say (mechanisms 1); also
/// one that lost its quota in the meantime and waits. The same work goes on, so the time that it
/// ran counts towards its limit.
void Lifecycle::end_replaced(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const WorkloadId replaced = model_.replaced_by(w);
  if (replaced == kNone) return;
  const hooks::Replaces how = w.extras->traits.replaces;
  WorkloadRecord& r = model_.workloads[replaced];
  if (w.object->maximum_execution_seconds)
    w.extras->past_execution_seconds = std::max(w.extras->past_execution_seconds, seconds_run(r));
  if (r.state == WorkloadState::kFinished || r.state == WorkloadState::kInactive) return;
  const std::size_t before = turn_.decisions.size();
  switch (how.how) {
    case hooks::ReplacedEnds::kFinished:
      end(replaced, how.reason, how.message);
      break;
    case hooks::ReplacedEnds::kDeactivated:
      if (r.represents() && r.holds_quota()) {
        Decision why;
        why.reason = how.reason;
        why.message = how.message;
        make_way(replaced, why);
      }
      deactivate(replaced, how.reason, how.message);
      break;
  }
  for (std::size_t i = before; i < turn_.decisions.size(); ++i)
    if (turn_.decisions[i].workload == replaced) turn_.decisions[i].successor = id;
}

void Lifecycle::complete_replacement(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  if (w.state != WorkloadState::kAdmitted || !w.holds_quota() || w.evicting) return;
  const WorkloadId replaced = model_.replaced_by(w);
  if (replaced == kNone) return;
  const WorkloadRecord& r = model_.workloads[replaced];
  if (r.state == WorkloadState::kAdmitted && r.holds_quota() && model_.gains_enough(w, replaced))
    end_replaced(id);
}

/// One that ends later is off when it has ended; until then its object alone says so.
void Lifecycle::deactivate(WorkloadId id, std::string_view reason, std::string_view message) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.exists() && w.state != WorkloadState::kFinished, w.key, " is turned off in state ",
               static_cast<int>(w.state));
  const bool goes_off_already = is_ending(id) && !w.object->active;
  const WorkloadId runs = model_.runs_as(id);
  if (w.holds_quota() || (runs != kNone && ends_later(runs))) {
    Decision why;
    why.reason = reason;
    why.message = message;
    evict(runs, why);
  } else if (w.queue != kNone) {
    structure_.released_in(w.queue);
  }
  if (w.object->active) {
    if (const auto cause = cause_of_deactivation(reason))
      set_condition(model_, w, Type::kDeactivationTarget, true, *cause, cause_in(message));
    auto object = std::make_shared<api::Workload>(*w.object);
    object->active = false;
    w.object = std::move(object);
  } else {
    w.drop_condition(Type::kDeactivationTarget);
  }
  if (goes_off_already) return;
  const bool ending = is_ending(id);
  if (!ending) turn_off(id, message);
  Decision& decision = decide(DecisionType::kDeactivated, id);
  decision.reason = reason;
  decision.message = message;
  if (ending) return;
  waiting_.enqueue_members(id);  // they wait as long as it is off
  representation_.touch(id);
}

void Lifecycle::deactivate_due_to(WorkloadId id, std::string_view cause, std::string_view told) {
  const std::string message = std::string(kDeactivatedDueTo) + std::string(told);
  deactivate(id, deactivation_due_to(cause), message);
}

void Lifecycle::take_target(WorkloadId id, const api::WorkloadStatus& status) {
  const WorkloadRecord& w = model_.workloads[id];
  const api::Condition* target = status.condition(condition_name(Type::kDeactivationTarget));
  if (!target || !target->is_true() || !w.object->active || w.stands_aside() ||
      w.state == WorkloadState::kFinished)
    return;
  deactivate_due_to(id, target->reason, target->message);
}

void Lifecycle::target_reached(WorkloadId id) {
  model_.workloads[id].drop_condition(Type::kDeactivationTarget);
}

void Lifecycle::turn_off(WorkloadId id, std::string_view message) {
  WorkloadRecord& w = model_.workloads[id];
  waiting_.dequeue(id);
  holdings_.drop_earmark(id);
  forget_backoff(w);
  w.state = WorkloadState::kInactive;
  w.pending.reset();
  set_condition(model_, w, Type::kQuotaReserved, false, to_string(WaitReason::kDeactivated),
                message);
}

void Lifecycle::deactivate_whole(WorkloadId id, std::string_view reason, std::string_view message) {
  deactivate(id, reason, message);
  const WorkloadId whole = model_.counted_as(id);
  const WorkloadRecord& w = model_.workloads[whole];
  if (whole != id && w.stands_aside() && w.state != WorkloadState::kFinished && w.object->active)
    deactivate(whole, reason, message);
}

/// Each that ends may end another.
void Lifecycle::settle_represented() {
  for (std::vector<Representation::End> ends; !(ends = representation_.settle()).empty();)
    for (const Representation::End& each : ends) {
      const WorkloadRecord& w = model_.workloads[each.id];
      if (!w.exists() || w.state == WorkloadState::kFinished) continue;
      if (!each.turns_off) {
        end(each.id, each.reason, each.message);
        continue;
      }
      turn_off(each.id, each.message);
      waiting_.enqueue_members(each.id);  // they wait as long as it is off
    }
}

Result<void> Lifecycle::finish(WorkloadId id, std::string_view reason, std::string_view message,
                               Time at) {
  WorkloadRecord& w = model_.workloads[id];
  if (w.state == WorkloadState::kFinished) return Error{w.key + " is finished already"};
  end(id, reason, message);
  w.condition(Type::kFinished)->time = at;
  return {};
}

/// Finished: what it holds is released, and it is queued no more.
void Lifecycle::end(WorkloadId id, std::string_view reason, std::string_view message) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.exists() && w.state != WorkloadState::kFinished, w.key, " ends twice");
  if (w.queue != kNone) structure_.released_in(w.queue);
  waiting_.dequeue(id);
  if (w.queue != kNone) model_.queues[w.queue].pending.free_place(id);
  holdings_.drop_earmark(id);
  if (w.holds_quota())
    w.ended = holdings_.let_go(id);
  else
    representation_.keep_place(id);
  ++w.epoch;
  w.evicting = false;
  w.state = WorkloadState::kFinished;
  count_workload(model_, id);
  w.pending.reset();
  model_.history.forget(id);
  set_condition(model_, w, Type::kFinished, true, reason, message);
  Decision& decision = decide(DecisionType::kFinished, id);
  decision.reason = reason;
  decision.message = message;
  turn_.moved = true;
  waiting_.enqueue_members(id);  // there is nothing left for them to run
  representation_.touch(id);
}

void Lifecycle::preempt(WorkloadId id, QueueId queue, std::span<const Victim> victims) {
  const WorkloadRecord& w = model_.workloads[id];
  const std::string* job = w.object->meta.labels.find("kueue.x-k8s.io/job-uid");
  for (const Victim& victim : victims) {
    const WorkloadRecord& v = model_.workloads[victim.id];
    SLUICE_CHECK(victim.id != id && v.exists(), w.key, " preempts workload ", victim.id,
                 ", which is itself or gone");
    if (!v.holds_quota()) continue;      // taken along by another's victim, from another root
    if (is_ending(victim.id)) continue;  // for whomever it was evicted
    Decision why;
    why.reason = eviction_reason::kPreempted;
    why.preemption = to_string(victim.reason);
    why.by = w.key;
    why.message = "Preempted to accommodate a workload (UID: " + w.uid.text() +
                  ", JobUID: " + (job ? *job : "UNKNOWN") + ") due to " + describe(victim.reason) +
                  "; preemptor path: " + model_.tree.path(queue) +
                  "; preemptee path: " + model_.tree.path(v.holding->queue);
    model_.history.evicted(id, victim.id, model_.now);
    evict(victim.id, why);
    // The search looks at one root; those of other roots that go along are evicted here.
    for (const WorkloadId other : model_.bound_to(victim.id)) {
      const bool victim_too = std::any_of(victims.begin(), victims.end(),
                                          [&](const Victim& each) { return each.id == other; });
      if (!victim_too && model_.workloads[other].holds_quota()) evict(other, why);
    }
  }
}

void Lifecycle::forget_used_up_time(WorkloadRecord& w) {
  const ConditionRecord* evicted = w.if_true(Type::kEvicted);
  if (w.extras && evicted && evicted->reason.text() == eviction_reason::kTimeLimit)
    w.extras->past_execution_seconds = 0;
}

void Lifecycle::reactivate(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  w.drop_condition(Type::kDeactivationTarget);
  forget_backoff(w);                             // a dump may bring it
  if (w.holds_quota() || is_ending(id)) return;  // it is queued when it has ended
  forget_used_up_time(w);
  w.state = WorkloadState::kPending;
  w.logged_pending = 0;  // its condition says that it is inactive: why it waits is told anew
  reset_checks(model_, w, true);
  set_condition(model_, w, Type::kRequeued, true, "Reactivated", "The workload was reactivated");
  waiting_.enqueue_members(id);
  representation_.touch(id);
}

void Lifecycle::take_pods_ready(WorkloadId id, const api::WorkloadStatus& status) {
  WorkloadRecord& w = model_.workloads[id];
  const api::Condition* ready = status.condition("PodsReady");
  if (!ready) return;
  const bool was_ready = w.is_true(Type::kPodsReady);
  const bool is_ready = ready->is_true();
  const bool was_recovering = is_recovering(w);
  set_condition(model_, w, Type::kPodsReady, is_ready, ready->reason, ready->message);
  if (!was_recovering) watch_recovery(id);
  turn_.moved |= is_ready && !was_ready && config_.block_admission;
}

void Lifecycle::forget(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  representation_.gone(id);
  if (w.holds_quota()) {
    structure_.released_in(w.holding->queue);
    holdings_.let_go(id);
  }
  waiting_.free_place(id);
  holdings_.drop_earmark(id);
  model_.history.forget(id);
}

void Lifecycle::verify() const {
  for (WorkloadId id = model_.workloads.first_id(); id < model_.workloads.end_id(); ++id) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.exists()) continue;
    const bool has_quota =
        w.state == WorkloadState::kQuotaReserved || w.state == WorkloadState::kAdmitted;
    SLUICE_CHECK(w.stands_aside() || w.holds_quota() == has_quota, w.key, " is in state ",
                 static_cast<int>(w.state), " and holds ", w.holds_quota() ? "quota" : "none");
    const bool over = w.state == WorkloadState::kFinished || w.state == WorkloadState::kInactive;
    SLUICE_CHECK(!over || !w.holds_quota(), w.key, " has ended and holds quota");
    SLUICE_CHECK(!w.evicting || w.holds_quota(), w.key, " is being evicted and holds none");
  }
}

}  // namespace sluice
