#include "core/engine/representation.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/engine/workload_views.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

namespace {

/// `The option w-a`: as sentences name a member.
std::string subject(const WorkloadRecord& member) {
  const std::string& called = member.extras->traits.group.called;
  std::string out = "The ";
  out += called.empty() ? "workload" : called;
  out += ' ';
  return out += member.object->meta.name;
}

}  // namespace

void tell_eviction(Model& model, WorkloadRecord& w, const Decision& why, bool admitted) {
  const SharedText reason = model.texts.intern(why.reason);
  const SharedText message = model.texts.intern(why.message);
  set_condition(model, w, Type::kQuotaReserved, false, model.texts.intern("Pending"), message);
  if (admitted) say_unadmitted(model, w);
  say_unready(model, w);
  set_condition(model, w, Type::kEvicted, true, reason, message);
  if (!why.preemption.empty())
    set_condition(model, w, Type::kPreempted, true, model.texts.intern(why.preemption), message);
}

std::string off_message(const Decision& why) {
  return is_deactivation(why.reason) ? why.message : "The workload is deactivated";
}

void count_ended_reservation(WorkloadRecord& w, std::string_view why, std::string_view why_cause) {
  const auto due_to = cause_of_deactivation(why);
  const std::string_view reason = due_to ? eviction_reason::kDeactivated : why;
  const std::string_view cause = due_to.value_or(why_cause);
  for (api::EvictionCount& e : w.more().evictions) {
    if (e.reason != reason || e.underlying_cause != cause) continue;
    ++e.count;
    return;
  }
  w.more().evictions.push_back({std::string(reason), std::string(cause), 1});
}

void Representation::touch(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  if (!w.extras) return;
  const WorkloadId whom = model_.counted_as(id);
  if (whom != id || w.stands_aside()) touched_.insert(whom);
}

void Representation::lost(WorkloadId member, const Decision& why) {
  const WorkloadId whom = model_.counted_as(member);
  if (whom == member || !model_.workloads[whom].stands_aside()) return;
  Loss& loss = losses_[whom];
  if (!loss.counts) loss = {why, !model_.workloads[member].evicting};
  touched_.insert(whom);
}

void Representation::gone(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  touch(id);
  losses_.erase(id);  // another of the same name lost nothing
  if (w.state != WorkloadState::kAdmitted || !w.represents()) return;
  Decision why;
  why.reason = eviction_reason::kWorkloadGone;
  why.message = subject(w) + " is gone";
  lost(id, why);
}

void Representation::keep_place(WorkloadRecord& w, const WorkloadRecord& member,
                                const Holding& holding) {
  w.ended = std::make_unique<Holding>();
  w.ended->queue = holding.queue;
  w.ended->pod_sets = holding.pod_sets;
  const auto checks = member.checks();
  w.more().checks.assign(checks.begin(), checks.end());
}

void Representation::keep_place(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  const WorkloadId speaker = model_.speaker_for(w);
  if (speaker == kNone) return;
  const WorkloadRecord& member = model_.workloads[speaker];
  keep_place(w, member, *member.holding);
}

void Representation::give_up(WorkloadId id, const std::string& message) {
  WorkloadRecord& w = model_.workloads[id];
  const ConditionRecord* last = nullptr;
  for (const WorkloadId member : model_.members_for(w)) {
    const ConditionRecord* evicted = model_.workloads[member].if_true(Type::kEvicted);
    if (evicted && (!last || evicted->time >= last->time)) last = evicted;
  }
  const ConditionRecord* own = w.if_true(Type::kEvicted);
  if (!last || (own && own->reason == last->reason)) return;
  set_condition(model_, w, Type::kEvicted, true, last->reason.text(), message);
}

/// The condition's times are those of its own changes: a move from one member to another is none.
void Representation::speak_as(WorkloadRecord& w, const WorkloadRecord& member) {
  w.state = WorkloadState::kAdmitted;
  w.pending.reset();
  w.logged_pending = 0;
  if (!member.evicting || !w.is_true(Type::kQuotaReserved))
    say_reserved(model_, w, model_.queues[member.holding->queue]);
  set_condition(model_, w, Type::kAdmitted, true, "Admitted", subject(member) + " is admitted");
  if (const ConditionRecord* ready = member.condition(Type::kPodsReady))
    set_condition(model_, w, Type::kPodsReady, ready->is_true, ready->reason, ready->message);
}

/// In the middle of the eviction of the member: what runs has to end, and is told so.
void Representation::speak_of_end(WorkloadRecord& w, const WorkloadRecord& member) {
  const ConditionRecord* evicted = member.if_true(Type::kEvicted);
  SLUICE_CHECK(evicted, member.key, " is being evicted and does not say so");
  set_condition(model_, w, Type::kEvicted, true, evicted->reason, evicted->message);
  if (const ConditionRecord* preempted = member.if_true(Type::kPreempted))
    set_condition(model_, w, Type::kPreempted, true, preempted->reason, preempted->message);
}

void Representation::fall_silent(WorkloadRecord& w, const Decision& why) {
  const bool inactive = w.state == WorkloadState::kInactive;
  const ConditionRecord off = inactive && w.condition(Type::kQuotaReserved)
                                  ? *w.condition(Type::kQuotaReserved)
                                  : ConditionRecord();
  tell_eviction(model_, w, why, true);
  if (inactive)  // its reason for that stays
    set_condition(model_, w, Type::kQuotaReserved, false, off.reason, off.message);
  else
    w.state = WorkloadState::kPending;
  waiting_.reorder_anchored(w.key);
}

void Representation::tell_loss(WorkloadId id, WorkloadId speaker) {
  WorkloadRecord& w = model_.workloads[id];
  auto loss = losses_.extract(id);
  if (!w.is_true(Type::kAdmitted)) return;
  // Without a word of the member, and with a reservation, it may hold what its status says.
  if (!loss && speaker == kNone && w.is_true(Type::kQuotaReserved)) return;
  Decision why;
  const ConditionRecord* evicted =
      speaker == kNone ? nullptr : model_.workloads[speaker].if_true(Type::kEvicted);
  if (loss) {
    why = std::move(loss.mapped().why);
  } else if (evicted) {
    why.reason = evicted->reason.text();
    why.message = evicted->message.text();
  } else {
    why.reason = w.object->active ? eviction_reason::kWorkloadGone : eviction_reason::kDeactivated;
    why.message =
        w.object->active ? "What ran for the workload is gone" : "The workload is deactivated";
  }
  const bool counted =
      loss ? !loss.mapped().counts : speaker != kNone && model_.workloads[speaker].evicting;
  if (!counted) count_ended_reservation(w, why.reason, why.cause);
  fall_silent(w, why);
  turn_.decide(DecisionType::kStatus, id);
}

void Representation::settle(WorkloadId id, std::vector<End>& ends) {
  WorkloadRecord& w = model_.workloads[id];
  const auto loss = losses_.extract(id);
  if (!w.exists() || !w.stands_aside()) return;
  const std::vector<WorkloadId> members = model_.members_for(w);
  const WorkloadId speaker = model_.speaker_for(w);
  if (w.state == WorkloadState::kFinished) {
    const ConditionRecord* how = w.condition(Type::kFinished);
    if (speaker != kNone && how) ends.push_back({speaker, how->reason.text(), how->message.text()});
    return;
  }
  for (const WorkloadId each : members) {
    const WorkloadRecord& member = model_.workloads[each];
    const ConditionRecord* how = member.condition(Type::kFinished);
    if (member.state != WorkloadState::kFinished || !how) continue;
    if (member.ended) keep_place(w, member, *member.ended);
    ends.push_back({id, how->reason.text(), subject(member) + " finished"});
    return;
  }
  // Of a reservation that nobody was told of there is no end to tell.
  const bool ended = loss && w.is_true(Type::kAdmitted);  // it may be turned off already
  const bool is_ending = speaker != kNone && model_.workloads[speaker].evicting;
  if (ended && loss.mapped().counts)
    count_ended_reservation(w, loss.mapped().why.reason, loss.mapped().why.cause);
  if (ended && !is_ending) say_unready(model_, w);
  if (speaker != kNone && (w.object->active || is_ending))
    speak_as(w, model_.workloads[speaker]);
  else if (ended && speaker == kNone)
    fall_silent(w, loss.mapped().why);
  if (ended && w.state == WorkloadState::kPending && !w.object->active) {
    const Decision& why = loss.mapped().why;  // it is off from here on, as one without members
    ends.push_back({id, why.reason, off_message(why), true});
  }
  if (is_ending) speak_of_end(w, model_.workloads[speaker]);
  if (w.state == WorkloadState::kPending) waiting_.enqueue(id);  // and says how its members stand
  if (loss || speaker != kNone) turn_.decide(DecisionType::kStatus, id);
}

std::vector<Representation::End> Representation::settle() {
  std::vector<End> ends;
  for (const WorkloadId id : std::exchange(touched_, {})) settle(id, ends);
  return ends;
}

void Representation::verify() const {
  for (WorkloadId id = model_.workloads.first_id(); id < model_.workloads.end_id(); ++id) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || !w.stands_aside() || touched_.contains(id)) continue;
    if (model_.members_for(w).empty()) continue;
    const WorkloadId speaker = model_.speaker_for(w);
    const bool spoken_for = speaker != kNone;
    const bool stays = spoken_for && (w.object->active || model_.workloads[speaker].evicting);
    const bool admitted = w.state == WorkloadState::kAdmitted;
    SLUICE_CHECK(!w.holds_quota(), w.key, " takes no part and holds quota");
    SLUICE_CHECK(admitted == stays || (w.state == WorkloadState::kFinished && !spoken_for), w.key,
                 " is in state ", static_cast<int>(w.state), ", and of its members ",
                 spoken_for ? "one" : "none", " is admitted");
  }
}

}  // namespace sluice
