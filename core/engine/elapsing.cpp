// What the Lifecycle does when time has passed: requeue backoff, pods that do not become ready,
// maximum execution time.
#include <algorithm>
#include <limits>

#include "core/base/backoff.hpp"
#include "core/base/check.hpp"
#include "core/engine/lifecycle.hpp"
#include "core/engine/workload_views.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice {

using Type = ConditionRecord::Type;

namespace {
constexpr std::string_view kWaitForRecovery = "WaitForRecovery";
}

void Lifecycle::begin_instant(Time now) {
  SLUICE_CHECK(now >= model_.now, "the clock went from ", model_.now, " to ", now);
  model_.now = now;
  while (const auto timer = timers_.pop_due(now)) fire(*timer);
}

/// Of an admitted workload.
void Lifecycle::start_timers(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  const ConditionRecord* admitted = w.condition(Type::kAdmitted);
  const Time since = admitted ? admitted->time : model_.now;
  const auto push = [&](Time at, TimerKind kind) {
    timers_.push(
        {std::max(at, model_.now), id, w.epoch, kind});  // a dump may be older than its limits
  };
  if (const auto limit = w.object->maximum_execution_seconds) {
    const std::int32_t past = w.extras ? w.extras->past_execution_seconds : 0;
    const Duration left = std::max(0, *limit - past) * kSecond;
    push(later(since, left), TimerKind::kMaximumExecution);
  }
  if (config_.pods_ready_timeout)
    push(later(since, *config_.pods_ready_timeout), TimerKind::kPodsReady);
  watch_recovery(id);
}

/// Pods that were ready once are missing.
bool Lifecycle::is_recovering(const WorkloadRecord& w) const {
  const ConditionRecord* ready = w.condition(Type::kPodsReady);
  return ready && !ready->is_true && ready->reason == kWaitForRecovery;
}

void Lifecycle::watch_recovery(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  if (w.state != WorkloadState::kAdmitted) return;  // what is said of its pods counts from then on
  if (!config_.pods_ready_timeout || !config_.pods_recovery_timeout || !is_recovering(w)) return;
  const Time due = later(w.condition(Type::kPodsReady)->time, *config_.pods_recovery_timeout);
  timers_.push({std::max(due, model_.now), id, w.epoch, TimerKind::kRecovery});
}

void Lifecycle::end_backoff(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  if (!w.extras || !w.extras->backing_off) return;
  w.extras->backing_off = false;
  if (w.state != WorkloadState::kPending) {  // it was turned off meanwhile
    decide(DecisionType::kStatus, id);
    return;
  }
  say_backoff_finished(model_, w);
  for (const WorkloadId each : model_.members_for(w)) {
    WorkloadRecord& member = model_.workloads[each];
    const ConditionRecord* requeued = member.condition(Type::kRequeued);
    if (member.state != WorkloadState::kPending || !requeued || requeued->is_true) continue;
    say_backoff_finished(model_, member);
    decide(DecisionType::kStatus, each);
  }
  decide(DecisionType::kRequeued, id).reason = "BackoffFinished";
  waiting_.enqueue(id);
  waiting_.enqueue_members(id);
}

void Lifecycle::fire(const Timer& timer) {
  SLUICE_CHECK(timer.at <= model_.now && timer.id < model_.workloads.end_id(), "a timer of ",
               timer.at, " for workload ", timer.id, " fires at ", model_.now);
  WorkloadRecord& w = model_.workloads[timer.id];
  if (!w.exists() || w.epoch != timer.epoch) return;  // it went on since
  if (w.evicting && timer.kind != TimerKind::kBackoff) return;
  switch (timer.kind) {
    case TimerKind::kBackoff:
      return end_backoff(timer.id);
    case TimerKind::kMaximumExecution:
      return deactivate_whole(
          timer.id, eviction_reason::kTimeLimit,
          std::string(kDeactivatedDueTo) + "exceeding the maximum execution time");
    case TimerKind::kPodsReady: {
      const ConditionRecord* ready = w.condition(Type::kPodsReady);
      if (!ready || (!ready->is_true && !is_recovering(w))) back_off(timer.id, "WaitForStart");
      return;
    }
    case TimerKind::kRecovery: {  // it may have recovered since, and lost pods again
      const bool still =
          is_recovering(w) && later(w.condition(Type::kPodsReady)->time,
                                    config_.pods_recovery_timeout.value_or(0)) <= model_.now;
      if (still) back_off(timer.id, kWaitForRecovery);
      return;
    }
  }
}

/// Evicts, and requeues after base × 2^(n−1), n counting the evictions of this kind; past the limit
/// the workload is deactivated. Those that are counted as one workload share its count and wait
/// together.
void Lifecycle::back_off(WorkloadId id, std::string_view cause) {
  const WorkloadId whom = model_.counted_as(id);
  WorkloadRecord& counted = model_.workloads[whom];
  api::RequeueState& requeue = counted.more().requeue;
  const std::int32_t n = std::min(requeue.count, std::numeric_limits<std::int32_t>::max() - 1) + 1;
  if (config_.requeue.backoff_limit && n > *config_.requeue.backoff_limit)
    return deactivate_whole(
        id, eviction_reason::kRequeuingLimit,
        std::string(kDeactivatedDueTo) + "exceeding the maximum number of re-queuing retries");
  requeue.count = n;
  const Duration wait = backoff(config_.requeue.backoff_base, n - 1, config_.requeue.backoff_max);
  const Time due = std::min(later(model_.now, wait), kLatest);
  requeue.requeue_at = due;
  counted.extras->backing_off = true;
  Decision why;
  why.reason = eviction_reason::kPodsReadyTimeout;
  why.cause = cause;
  why.message = "Exceeded the PodsReady timeout " + model_.key(id);
  evict(id, why);
  timers_.push({due, whom, counted.epoch, TimerKind::kBackoff});
  waiting_.enqueue_members(whom);
}

}  // namespace sluice
