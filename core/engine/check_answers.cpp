// What the Lifecycle does about admission checks: what their states come to, and the retries.
#include <algorithm>

#include "core/engine/checks.hpp"
#include "core/engine/lifecycle.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

void Lifecycle::take_reports(WorkloadId id, const api::WorkloadStatus& status) {
  WorkloadRecord& w = model_.workloads[id];
  if (!w.extras || !w.holds_quota()) return;
  for (const api::AdmissionCheckState& report : status.admission_checks)
    for (api::AdmissionCheckState& check : w.extras->checks)
      if (check.name == report.name) take_report(id, check, report);
}

void Lifecycle::take_report(WorkloadId id, api::AdmissionCheckState& check,
                            const api::AdmissionCheckState& report) {
  const auto before = sluice::take_report(model_, model_.workloads[id], check, report);
  if (!before) return;
  turn_.moved = true;
  representation_.touch(id);
  if (*before == check.state) {
    decide(DecisionType::kStatus, id);
    return;
  }
  Decision& decision = decide(DecisionType::kCheckState, id);
  decision.reason = check.name;
  decision.cause = check.state;
  decision.before = *before;
  decision.message = check.message;
}

Result<void> Lifecycle::report(WorkloadId id, const api::AdmissionCheckState& report) {
  WorkloadRecord& w = model_.workloads[id];
  if (!w.holds_quota()) return Error{w.key + " holds no quota, so its checks have not begun"};
  if (w.extras) {
    for (api::AdmissionCheckState& check : w.extras->checks) {
      if (check.name != report.name) continue;
      take_report(id, check, report);
      settle_checks(id);
      return {};
    }
  }
  return Error{w.key + " has no admission check " + report.name};
}

void Lifecycle::settle_checks(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  recheck_due_.erase(id);
  recheck_waiting_.erase(id);
  if (!w.holds_quota() || w.evicting) return;
  const CheckVerdict verdict = verdict_of(model_, w);
  switch (verdict.say) {
    case ChecksSay::kRejected:
      return deactivate(id, eviction_reason::kCheckRejected,
                        std::string(kDeactivatedDueTo) + verdict.checks);
    case ChecksSay::kRetry:
      return retry(id, verdict.checks);
    case ChecksSay::kGoOn:
      if (w.state != WorkloadState::kQuotaReserved) return;
      recheck_due_.insert(id);
      turn_.moved = true;
      return;
    case ChecksSay::kWait:
      return;
  }
}

/// Evicts; it waits until the longest delay of those checks is over. Not twice in one instant: a
/// check that answers at once, always the same, would turn for ever.
void Lifecycle::retry(WorkloadId id, const std::string& checks) {
  WorkloadRecord& w = model_.workloads[id];
  WorkloadExtras& more = w.more();
  Time due = std::min(retry_due(model_, w), kLatest);
  if (due <= model_.now && more.retried_at == model_.now) due = model_.now + kSecond;
  more.retried_at = model_.now;
  more.backing_off = due > model_.now;
  more.requeue.requeue_at = due;
  Decision why;
  why.reason = eviction_reason::kAdmissionCheck;
  why.message = "Evicted due to " + checks;
  evict(id, why);
  if (more.backing_off)
    timers_.push({due, id, w.epoch, TimerKind::kBackoff});
  else
    say_backoff_finished(model_, w);
}

void Lifecycle::end_retry(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  const ConditionRecord* evicted = w.if_true(Type::kEvicted);
  if (evicted && evicted->reason == eviction_reason::kAdmissionCheck) end_backoff(id);
}

/// A writer of the status started from the current one, which has the delay in it. The delay ends
/// when the write removes it or sets it to a past time, or sets Requeued to True.
void Lifecycle::take_requeue(WorkloadId id, const api::WorkloadStatus& status) {
  const WorkloadRecord& w = model_.workloads[id];
  if (!w.extras || !w.extras->backing_off || status.conditions.empty()) return;
  const api::Condition* requeued = status.condition("Requeued");
  const bool delayed = status.requeue_state && status.requeue_state->requeue_at &&
                       *status.requeue_state->requeue_at > model_.now;
  if (!delayed || (requeued && requeued->is_true())) end_retry(id);
}

void Lifecycle::relist_checks(const std::set<QueueId>& queues) {
  for (WorkloadId id = model_.workloads.first_id(); id < model_.workloads.end_id(); ++id) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.exists() || w.queue == kNone || !queues.contains(w.queue)) continue;
    if (w.state == WorkloadState::kFinished || w.state == WorkloadState::kInactive) continue;
    waiting_.list_checks(id);
    settle_checks(id);
  }
}

}  // namespace sluice
