#include "host/metrics/decision_metrics.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "core/model/model.hpp"
#include "core/reasons/eviction_reason.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

double seconds(Duration time) {
  return static_cast<double>(std::max<Duration>(0, time)) / static_cast<double>(kSecond);
}

/// One thing told of both queues; without buckets it is counted.
struct Telling {
  const char* name;
  const char* help;
  std::optional<Buckets> buckets, local_buckets;
};

/// In the order of Told. Kueue's names and buckets.
constexpr Telling kTellings[] = {
    {"quota_reserved_workloads_total", "Workloads that got quota", {}, {}},
    {"quota_reserved_wait_time_seconds", "From queueing to the reservation of quota",
     Buckets::kFourteen, Buckets::kFourteen},
    {"admitted_workloads_total", "Workloads that were admitted", {}, {}},
    {"admission_wait_time_seconds", "From queueing to admission", Buckets::kSixteen,
     Buckets::kFourteen},
    {"admission_checks_wait_time_seconds", "From the reservation of quota to admission",
     Buckets::kFourteen, Buckets::kFourteen},
    {"ready_wait_time_seconds", "From queueing to all pods being ready", Buckets::kFourteen,
     Buckets::kFourteen},
    {"admitted_until_ready_wait_time_seconds", "From admission to all pods being ready",
     Buckets::kFourteen, Buckets::kFourteen},
    {"finished_workloads_total", "Workloads that finished", {}, {}},
    {"execution_time_seconds", "From admission to the end", Buckets::kSixteen, Buckets::kSixteen},
};

constexpr std::size_t kOtherWords = 100;

constexpr std::string_view cause_of(std::string_view deactivation) {
  return *cause_of_deactivation(deactivation);
}

/// `DeactivatedDueToX` is the reason Deactivated with the cause X.
std::pair<std::string, std::string> split_reason(const std::string& reason) {
  const auto cause = cause_of_deactivation(reason);
  if (!cause) return {reason, ""};
  return {std::string(eviction_reason::kDeactivated), std::string(*cause)};
}

}  // namespace

struct DecisionMetrics::About {
  std::string cluster_queue, ns, local_queue, priority_class, uid;
  Time created = 0;
  Time queued = 0;  ///< created, or evicted last
  Time reserved = 0, admitted = 0;
  bool checks = false;
  Series* series = nullptr;

  MetricLabels of_cluster_queue() const {
    return {{"cluster_queue", cluster_queue}, {"priority_class", priority_class}};
  }
  MetricLabels of_local_queue() const {
    return {{"namespace", ns}, {"name", local_queue}, {"priority_class", priority_class}};
  }
};

DecisionMetrics::DecisionMetrics(const Engine& engine, const PriorityClasses& classes,
                                 HostMetrics& metrics)
    : engine_(engine),
      classes_(classes),
      metrics_(metrics),
      reasons_({eviction_reason::kPreempted, eviction_reason::kAdmissionCheck,
                eviction_reason::kPodsReadyTimeout, eviction_reason::kClusterQueueStopped,
                eviction_reason::kLocalQueueStopped, eviction_reason::kWorkloadGone,
                eviction_reason::kDeactivated},
               kOtherWords),
      causes_({"", cause_of(eviction_reason::kCheckRejected),
               cause_of(eviction_reason::kRequeuingLimit), cause_of(eviction_reason::kTimeLimit)},
              kOtherWords) {}

std::string DecisionMetrics::class_label(const api::Workload& workload) const {
  const api::PriorityClassRef* named = workload.priority_class.get();
  return named && has_class(classes_, *named) ? named->name : "";
}

/// The times are its own; the labels are those of the workload that it counts for.
DecisionMetrics::About DecisionMetrics::about(WorkloadId id) {
  const auto object = engine_.object(engine_.model().counted_as(id));
  const Milestones seen = milestones_of(engine_.model(), id);
  About out;
  out.ns = object->meta.ns;
  out.uid = object->meta.uid;
  out.local_queue = object->queue_name;
  out.priority_class = class_label(*object);
  out.cluster_queue = seen.cluster_queue;
  if (out.cluster_queue.empty()) out.cluster_queue = cluster_queue_of(engine_.model(), *object);
  out.created = object->meta.creation_time.value_or(0);
  // The condition Evicted tells it only until the workload gets quota again.
  const auto evicted = evicted_at_.find(out.uid);
  out.queued = out.created;
  if (evicted != evicted_at_.end()) out.queued = evicted->second;
  if (seen.is_evicted) out.queued = *seen.evicted;
  out.reserved = seen.reserved.value_or(0);
  out.admitted = seen.admitted.value_or(0);
  out.checks = seen.has_checks;
  series_key_ = out.cluster_queue;
  for (const std::string* part : {&out.ns, &out.local_queue, &out.priority_class})
    series_key_.append(1, '\0').append(*part);
  out.series = &series_[series_key_];
  return out;
}

bool DecisionMetrics::is_there(const About& about) const {
  return engine_.model().find_queue(about.cluster_queue) != nullptr;
}

bool DecisionMetrics::local_is_there(const About& about) const {
  return engine_.model().find_local_queue(join_key(about.ns, about.local_queue)) != nullptr;
}

DecisionMetrics::Series::Pair DecisionMetrics::make(Told what, const About& about) {
  static_assert(std::size(kTellings) == kTold);
  const Telling& telling = kTellings[static_cast<std::size_t>(what)];
  const auto sink = [&](const std::string& name, const char* per, const MetricLabels& labels,
                        const std::optional<Buckets>& buckets) {
    const std::string help = std::string(telling.help) + per;
    return buckets ? metrics_.histogram(name, help, labels, *buckets)
                   : metrics_.counter(name, help, labels);
  };
  Series::Pair out;
  if (is_there(about))
    out.cluster_queue = sink(std::string("kueue_") + telling.name, " per ClusterQueue",
                             about.of_cluster_queue(), telling.buckets);
  if (local_is_there(about))
    out.local_queue = sink(std::string("kueue_local_queue_") + telling.name, " per LocalQueue",
                           about.of_local_queue(), telling.local_buckets);
  return out;
}

void DecisionMetrics::tell(Told what, const About& about, double value) {
  Series::Pair& pair = about.series->of[static_cast<std::size_t>(what)];
  if (!pair.cluster_queue || !pair.local_queue) pair = make(what, about);
  if (pair.cluster_queue) pair.cluster_queue(value);
  if (pair.local_queue) pair.local_queue(value);
}

void DecisionMetrics::time(Told what, const About& about, Duration time) {
  tell(what, about, seconds(time));
}

void DecisionMetrics::forget_cluster_queue(const std::string& name) {
  for (const char* label : {"cluster_queue", "preempting_cluster_queue"})
    metrics_.forget({{label, name}});
  skips_.erase(name);
  series_.clear();  // made anew at their next use
}

void DecisionMetrics::forget_local_queue(const std::string& ns, const std::string& name) {
  metrics_.forget({{"namespace", ns}, {"name", name}});
  series_.clear();
}

void DecisionMetrics::forget_cohorts() {
  const QuotaTree& tree = engine_.model().tree;
  std::set<std::string> gone = metrics_.values_of("cohort");
  for (NodeId node = 0; node < tree.node_count(); ++node)
    if (!tree.is_queue(node)) gone.erase(tree.name(node));
  for (const std::string& name : gone) metrics_.forget({{"cohort", name}});
}

void DecisionMetrics::forget_workload(const std::string& uid) {
  evicted_at_.erase(uid);
  ready_since_.erase(uid);
  endings_.erase(uid);
}

void DecisionMetrics::decided(Time now, const Decision& decision) {
  if (!engine_.object(decision.workload)) return;  // deleted in the same step
  if (engine_.model().counted_as(decision.workload) != decision.workload)
    return decided_for_another(now, decision);
  switch (decision.type) {
    case DecisionType::kQuotaReserved:
      return reserved(now, about(decision.workload));
    case DecisionType::kAdmitted:
      return admitted(now, about(decision.workload));
    case DecisionType::kEvicted:
      return evicted(now, decision, about(decision.workload));
    case DecisionType::kFinished:
      return finished(now, about(decision.workload));
    case DecisionType::kWaitingForVictims:
      ++skips_of_cycle_[about(decision.workload).cluster_queue];
      return;
    case DecisionType::kPending:
    case DecisionType::kDeactivated:
    case DecisionType::kRequeued:
    case DecisionType::kReservationLost:
    case DecisionType::kCheckState:
    case DecisionType::kLowered:
      return;
    case DecisionType::kStatus:
      return released(now, decision.workload);
  }
}

/// Several may count for one workload. What is told is what happens to that one: it gets quota with
/// the first that is admitted, and is evicted with it; that it ended is told of itself.
void DecisionMetrics::decided_for_another(Time now, const Decision& decision) {
  if (decision.type == DecisionType::kAdmitted) {
    const About who = about(decision.workload);
    reserved(now, who);
    admitted(now, who);
  } else if (decision.type == DecisionType::kEvicted && decision.admitted) {
    evicted(now, decision, about(decision.workload));
  } else if (decision.type == DecisionType::kWaitingForVictims) {
    ++skips_of_cycle_[about(decision.workload).cluster_queue];
  }
}

void DecisionMetrics::cycled(const CycleReport& cycle) {
  const MetricLabels labels{{"result", cycle.reserved ? "success" : "inadmissible"}};
  metrics_.count("kueue_admission_attempts_total", "Scheduling cycles, by what came of them",
                 labels);
  metrics_.observe("kueue_admission_attempt_duration_seconds", "Time of a scheduling cycle", labels,
                   seconds(cycle.took), Buckets::kDefault);
  // What a queue skipped last stays to be seen until it skips again, as in Kueue.
  for (const auto& [queue, skips] : skips_of_cycle_) skips_[queue] = skips;
  skips_of_cycle_.clear();
}

void DecisionMetrics::pods_ready(Time now, WorkloadId workload) {
  const About who = about(workload);
  const auto [known, first] = ready_since_.try_emplace(who.uid, now);
  if (!first && known->second >= who.admitted) return;  // they recovered
  known->second = now;
  time(Told::kReadyWait, who, now - who.queued);
  time(Told::kReadyAfterAdmission, who, now - who.admitted);
}

void DecisionMetrics::reserved(Time now, const About& about) {
  count(Told::kReserved, about);
  time(Told::kReservedWait, about, now - about.queued);
}

void DecisionMetrics::admitted(Time now, const About& about) {
  count(Told::kAdmitted, about);
  time(Told::kAdmissionWait, about, now - about.queued);
  for (const std::string& cohort : cohorts_above(engine_.model(), about.cluster_queue))
    metrics_.count("kueue_cohort_subtree_admitted_workloads_total",
                   "Workloads that were admitted in queues below the cohort",
                   {{"cohort", cohort}, {"priority_class", about.priority_class}});
  if (about.checks) time(Told::kChecksWait, about, now - about.reserved);
}

void DecisionMetrics::evicted(Time now, const Decision& decision, const About& about) {
  auto [reason, cause] = split_reason(decision.reason);
  if (cause.empty()) cause = decision.cause;
  reason = reasons_.take(reason);
  cause = causes_.take(cause);
  const auto add = [&, &why = reason, &because = cause](MetricLabels labels) {
    labels.insert(labels.end() - 1, {{"reason", why}, {"underlying_cause", because}});
    return labels;
  };
  const bool first = evicted_at_.insert_or_assign(about.uid, now).second;
  const auto ready = ready_since_.extract(about.uid);
  if (!decision.preemption.empty()) preempted(decision);
  if (local_is_there(about))
    metrics_.count("kueue_local_queue_evicted_workloads_total", "Evictions per LocalQueue",
                   add(about.of_local_queue()));
  if (!is_there(about)) return;
  metrics_.count("kueue_evicted_workloads_total", "Evictions per ClusterQueue",
                 add(about.of_cluster_queue()));
  if (first)
    metrics_.count("kueue_evicted_workloads_once_total",
                   "Workloads that were evicted at least once, per ClusterQueue",
                   add(about.of_cluster_queue()));
  Ending ending{.since = now, .cluster_queue = about.cluster_queue, .reason = reason};
  if (engine_.model().workloads[decision.workload].holds_quota())
    endings_.insert_or_assign(about.uid, std::move(ending));
  else
    time_eviction(ending, now);
  if (ready)
    metrics_.observe(
        "kueue_pods_ready_to_evicted_time_seconds", "From all pods being ready to the eviction",
        {{"cluster_queue", about.cluster_queue}, {"reason", reason}, {"underlying_cause", cause}},
        seconds(now - ready.mapped()), Buckets::kFourteen);
}

/// The end of an eviction is no decision of its own, only a change of the status.
void DecisionMetrics::released(Time now, WorkloadId id) {
  if (endings_.empty() || engine_.model().in_eviction(id)) return;
  if (const auto ending = endings_.extract(engine_.object(id)->meta.uid))
    time_eviction(ending.mapped(), now);
}

void DecisionMetrics::time_eviction(const Ending& of, Time now) {
  if (!engine_.model().find_queue(of.cluster_queue)) return;
  metrics_.observe("kueue_workload_eviction_latency_seconds",
                   "From the decision to evict to the release of the quota",
                   {{"cluster_queue", of.cluster_queue}, {"reason", of.reason}},
                   seconds(now - of.since), Buckets::kFourteen);
}

void DecisionMetrics::preempted(const Decision& decision) {
  const auto by = engine_.find(decision.by);
  metrics_.count("kueue_preempted_workloads_total",
                 "Preempted workloads, per ClusterQueue that preempted",
                 {{"preempting_cluster_queue", by ? about(*by).cluster_queue : ""},
                  {"reason", decision.preemption}});
}

void DecisionMetrics::finished(Time now, const About& about) {
  evicted_at_.erase(about.uid);
  ready_since_.erase(about.uid);
  if (const auto ending = endings_.extract(about.uid)) time_eviction(ending.mapped(), now);
  count(Told::kFinished, about);
  if (about.admitted != 0) time(Told::kExecution, about, now - about.admitted);
}

}  // namespace sluice::host
