// Admission checks (KEP-993, semantics 7): which of them a workload has to pass, what their states
// come to, and when the states begin anew.
#include <algorithm>

#include "core/engine/state.hpp"

namespace sluice {
namespace {

using Type = ConditionRecord::Type;

constexpr std::string_view kStatePending = "Pending";
constexpr std::string_view kStateReady = "Ready";
constexpr std::string_view kStateRetry = "Retry";
constexpr std::string_view kStateRejected = "Rejected";
constexpr std::string_view kPreemptionRequired = "PreemptionRequired";

/// `"name" (message); …` of the checks in this state; empty: there is none.
std::string those_in(std::string_view state, std::span<const api::AdmissionCheckState> checks) {
  std::string out;
  for (const api::AdmissionCheckState& check : checks) {
    if (check.state != state) continue;
    out += (out.empty() ? "\"" : "; \"") + check.name + "\"";
    if (!check.message.empty()) out += " (" + check.message + ")";
  }
  return out;
}

bool same_report(const api::AdmissionCheckState& a, const api::AdmissionCheckState& b) {
  return a.state == b.state && a.reason == b.reason && a.message == b.message &&
         a.requeue_after_seconds == b.requeue_after_seconds &&
         a.pod_set_updates == b.pod_set_updates;
}

}  // namespace

void EngineState::apply(const api::AdmissionCheck& object) {
  const CheckRecord now{object.active, object.why_inactive, object.preempt_after_check,
                        object.retry_delay_seconds};
  const auto [it, fresh] = model.checks.emplace(object.meta.name, now);
  if (!fresh && it->second == now) return;
  it->second = now;
  note_check_change(object.meta.name);
}

/// Queues that name the check may become active or inactive.
void EngineState::note_check_change(const std::string& name) {
  for (const QueueRecord& queue : model.queues) {
    if (!queue.spec) continue;
    for (const api::AdmissionCheckRule& rule : queue.spec->admission_checks)
      if (rule.name == name) note_queue_change(queue.id, false);
  }
}

void EngineState::rebuild_checks(QueueRecord& queue) {
  std::vector<QueueCheck> checks;
  if (queue.spec) {
    for (const api::AdmissionCheckRule& rule : queue.spec->admission_checks) {
      QueueCheck& check = checks.emplace_back();
      check.name = rule.name;
      for (const std::string& flavor : rule.on_flavors)
        check.flavors.push_back(model.frs.intern_flavor(flavor));
      std::sort(check.flavors.begin(), check.flavors.end());
      for (const ResourceGroupRecord& group : queue.groups)
        for (const FlavorId flavor : group.flavors)
          check.all_flavors &=
              rule.on_flavors.empty() ||
              std::binary_search(check.flavors.begin(), check.flavors.end(), flavor);
      const auto known = model.checks.find(rule.name);
      check.preempt_after_check = known != model.checks.end() && known->second.preempt_after_check;
    }
  }
  if (checks == queue.checks) return;
  queue.checks = std::move(checks);
  relist_.insert(queue.id);
}

/// While it waits, the checks that hold for all flavors; with a reservation, those of its flavors.
/// States of checks that stay are kept, and so are the retries of those that may come back.
void EngineState::list_checks(WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  if (w.queue == kNone) return;
  const std::vector<QueueCheck>& rules = model.queues[w.queue].checks;
  if (rules.empty() && (!w.extras || w.extras->checks.empty())) return;
  std::vector<api::AdmissionCheckState>& listed = w.more().checks;
  std::vector<api::AdmissionCheckState> now;
  for (const QueueCheck& rule : rules) {
    const auto had = std::find_if(listed.begin(), listed.end(),
                                  [&](const auto& each) { return each.name == rule.name; });
    const bool was_retried = had != listed.end() && had->retry_count > 0;
    if (w.holds_quota() ? !rule.applies_to(*w.holding) : !rule.all_flavors && !was_retried)
      continue;
    if (had != listed.end()) {
      now.push_back(*had);
      continue;
    }
    api::AdmissionCheckState& fresh = now.emplace_back();
    fresh.name = rule.name;
    fresh.state = kStatePending;
    fresh.last_transition_time = model.now;
  }
  if (now == listed) return;
  listed = std::move(now);
  decide(DecisionType::kChecksListed, id);
}

void EngineState::list_checks_of(const std::set<QueueId>& queues) {
  for (WorkloadId id = 0; id < model.workloads.size(); ++id) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists() || w.queue == kNone || !queues.contains(w.queue)) continue;
    if (w.state == WorkloadState::kFinished || w.state == WorkloadState::kInactive) continue;
    list_checks(id);
    settle_checks(id);
  }
}

/// After a reservation ended. What was rejected stays to be seen, unless `all` begin anew.
void EngineState::reset_checks(WorkloadRecord& w, bool all) {
  if (!w.extras) return;
  for (api::AdmissionCheckState& check : w.extras->checks) {
    if (check.state == kStateRejected && !all) continue;
    const bool retry = check.state == kStateRetry;
    if (all) check.retry_count = 0;
    if (retry) ++check.retry_count;
    if (!retry) check.requeue_after_seconds.reset();
    if (check.state != kStatePending) {
      check.message = "Reset to Pending after eviction. Previously: " + check.state;
      check.last_transition_time = model.now;
    } else {
      check.message.clear();
    }
    check.state = kStatePending;
    check.reason.clear();
    check.pod_set_updates.clear();
  }
}

/// What its controllers, or anybody with the right to write the status, say of its checks. Nobody
/// was asked before it held quota, and an answer to an earlier reservation is none to the next.
void EngineState::take_check_reports(WorkloadId id, const api::WorkloadStatus& status) {
  WorkloadRecord& w = model.workloads[id];
  if (!w.extras || !w.holds_quota()) return;
  for (const api::AdmissionCheckState& report : status.admission_checks)
    for (api::AdmissionCheckState& check : w.extras->checks)
      if (check.name == report.name) take_check_report(id, check, report);
}

void EngineState::take_check_report(WorkloadId id, api::AdmissionCheckState& check,
                                    const api::AdmissionCheckState& report) {
  if (same_report(check, report)) return;
  const std::string before = check.state;
  check.state = report.state;
  check.reason = report.reason;
  check.message = report.message;
  check.requeue_after_seconds = report.requeue_after_seconds;
  // What a started job was given stays; Pending changes nothing about who is admitted.
  const bool stays_ready = before == kStateReady && report.state == kStateReady;
  const bool runs_on = model.workloads[id].state == WorkloadState::kAdmitted &&
                       (report.state == kStateReady || report.state == kStatePending);
  if (!stays_ready && !runs_on) check.pod_set_updates = report.pod_set_updates;
  moved_ = true;
  if (before == check.state) {
    decide(DecisionType::kChecksListed, id);
    return;
  }
  check.last_transition_time = model.now;
  Decision& decision = decide(DecisionType::kCheckState, id);
  decision.reason = check.name;
  decision.cause = check.state;
  decision.before = before;
  decision.message = check.message;
}

Result<void> EngineState::report(WorkloadId id, const api::AdmissionCheckState& report) {
  WorkloadRecord& w = model.workloads[id];
  if (!w.holds_quota()) return Error{w.key + " holds no quota, so its checks have not begun"};
  if (w.extras) {
    for (api::AdmissionCheckState& check : w.extras->checks) {
      if (check.name != report.name) continue;
      take_check_report(id, check, report);
      settle_checks(id);
      return {};
    }
  }
  return Error{w.key + " has no admission check " + report.name};
}

bool EngineState::all_ready(const WorkloadRecord& w) {
  const auto checks = w.checks();
  return std::all_of(checks.begin(), checks.end(),
                     [](const auto& each) { return each.state == kStateReady; });
}

/// May the preemptions that were held back go on: every check with that policy is Ready, or some
/// check asks for them?
bool EngineState::lets_preempt(const WorkloadRecord& w) const {
  bool ready = true;
  for (const api::AdmissionCheckState& check : w.checks()) {
    if (check.state == kStatePending && check.reason == kPreemptionRequired) return true;
    const auto known = model.checks.find(check.name);
    if (known != model.checks.end() && known->second.preempt_after_check)
      ready &= check.state == kStateReady;
  }
  return ready;
}

/// Acts on the states of its checks.
void EngineState::settle_checks(WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  recheck_due_.erase(id);
  recheck_waiting_.erase(id);
  if (!w.holds_quota() || w.evicting) return;
  if (const std::string names = those_in(kStateRejected, w.checks()); !names.empty())
    return deactivate(id, "DeactivatedDueToAdmissionCheck",
                      "Deactivated due to AdmissionCheck(s) in Rejected state: " + names);
  if (const std::string names = those_in(kStateRetry, w.checks()); !names.empty())
    return retry(id, names);
  if (w.state != WorkloadState::kQuotaReserved) return;
  if (!all_ready(w) && (w.holding->planned.empty() || !lets_preempt(w))) return;
  recheck_due_.insert(id);
  moved_ = true;
}

/// Evicts; it waits until the longest delay of those checks is over. Not twice in one instant: a
/// check that answers at once, always the same, would turn for ever.
void EngineState::retry(WorkloadId id, const std::string& names) {
  WorkloadRecord& w = model.workloads[id];
  WorkloadExtras& more = w.more();
  Time due = model.now;
  for (const api::AdmissionCheckState& check : more.checks) {
    if (check.state != kStateRetry) continue;
    const auto known = model.checks.find(check.name);
    const std::optional<std::int32_t> usual =
        known == model.checks.end() ? std::nullopt : known->second.retry_delay_seconds;
    const std::int32_t delay = check.requeue_after_seconds.value_or(usual.value_or(0));
    due = std::max(due, check.last_transition_time + delay * kSecond);
  }
  if (due <= model.now && more.retried_at == model.now) due = model.now + kSecond;
  more.retried_at = model.now;
  more.backing_off = due > model.now;
  more.requeue.requeue_at = due;
  Decision why;
  why.reason = "AdmissionCheck";
  why.message = "Evicted due to AdmissionCheck(s) in Retry state: " + names;
  evict(id, why);
  if (more.backing_off) {
    timers_.push({due, id, w.epoch, TimerKind::kBackoff});
  } else {
    set_condition(w, Type::kRequeued, true, "BackoffFinished", "The workload backoff was finished");
  }
}

/// Reservations that came with a status: their checks are looked at once all objects are there.
void EngineState::settle_loaded() {
  std::vector<WorkloadId> ids;
  std::swap(ids, loaded_);
  for (const WorkloadId id : ids) {
    if (!model.workloads[id].exists() || !model.workloads[id].holds_quota()) continue;
    list_checks(id);
    settle_checks(id);
  }
}

}  // namespace sluice
