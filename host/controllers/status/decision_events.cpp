#include "host/controllers/status/decision_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/engine/workload_views.hpp"
#include "core/reasons/eviction_reason.hpp"

namespace sluice::host {
namespace {

/// `The workload is deactivated …` as an Event about that workload says it.
std::string without_subject(std::string_view message) {
  constexpr std::string_view kSubject = "The workload is d";
  if (!message.starts_with(kSubject)) return std::string(message);
  return "D" + std::string(message.substr(kSubject.size()));
}

}  // namespace

DecisionEvents::DecisionEvents(const api::Scheme& scheme, const Engine& engine,
                               ObjectAccess& objects)
    : kind_(api::kueue_kind(scheme, "Workload")), engine_(engine), objects_(objects) {}

void DecisionEvents::decided(Time now, const Decision& decision) {
  const WorkloadId id = decision.workload;
  if (!engine_.object(id)) return;  // deleted in the same step
  switch (decision.type) {
    case DecisionType::kQuotaReserved:
      return emit(id, false, "QuotaReserved",
                  fmt::format("Quota reserved in ClusterQueue {}, wait time since queued was {}s",
                              queue_of(id), since(id, now, false) / kSecond));
    case DecisionType::kAdmitted:
      return emit(id, false, "Admitted",
                  fmt::format("Admitted by ClusterQueue {}, wait time since reservation was {}s",
                              queue_of(id), since(id, now, true) / kSecond));
    case DecisionType::kEvicted:
      return evicted(decision);
    case DecisionType::kPending:
      // That its turn has not come is in its condition: nothing happened to it.
      if (decision.reason == "PendingEvaluation") return;
      return emit(id, true, decision.reason, decision.message);
    case DecisionType::kDeactivated: {
      const std::int32_t limit = engine_.object(id)->maximum_execution_seconds.value_or(0);
      if (decision.reason == eviction_reason::kCheckRejected)
        emit(id, true, "AdmissionCheckRejected", without_subject(decision.message));
      if (decision.reason == eviction_reason::kTimeLimit)
        emit(id, true, "MaximumExecutionTimeExceeded",
             fmt::format("The maximum execution time ({}s) exceeded", limit));
      return;
    }
    case DecisionType::kReservationLost:
      return emit(id, true, "SecondPassFailed", decision.message);
    case DecisionType::kCheckState:
      return emit(id, false, "AdmissionCheckUpdated",
                  fmt::format("Admission check {} updated state from {} to {} with message: {}",
                              decision.reason, decision.before, decision.cause, decision.message));
    case DecisionType::kLowered:
    case DecisionType::kStatus:
    case DecisionType::kFinished:  // the job has an Event for it
    case DecisionType::kRequeued:
    case DecisionType::kWaitingForVictims:
      return;
  }
}

void DecisionEvents::evicted(const Decision& decision) {
  if (!decision.preemption.empty()) {
    emit(decision.workload, false, "Preempted", decision.message);
    if (const auto by = engine_.find(decision.by))
      emit(*by, false, "PreemptedWorkload",
           fmt::format("Preempted workload {}: {}", engine_.key(decision.workload),
                       decision.preemption));
  }
  const std::string due_to = decision.cause.empty() ? "" : "DueTo" + decision.cause;
  emit(decision.workload, false, "EvictedDueTo" + decision.reason + due_to, decision.message);
}

void DecisionEvents::emit(WorkloadId id, bool warning, std::string reason, std::string message) {
  objects_.emit({{&kind_, engine_.key(id)}, warning, std::move(reason), std::move(message)});
}

std::string DecisionEvents::queue_of(WorkloadId id) const {
  return std::string(milestones_of(engine_.model(), id).cluster_queue);
}

/// How long it waited for its reservation, or from there for its admission.
Duration DecisionEvents::since(WorkloadId id, Time now, bool reservation) const {
  const Milestones seen = milestones_of(engine_.model(), id);
  Time from = engine_.object(id)->meta.creation_time.value_or(now);
  if (reservation && seen.reserved) from = *seen.reserved;
  // Evicted changes with the new reservation itself; Requeued stays from when it queued again.
  if (!reservation && seen.requeued) from = std::max(from, std::min(*seen.requeued, now));
  return std::max<Duration>(0, now - from);
}

}  // namespace sluice::host
