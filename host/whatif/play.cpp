#include "host/whatif/play.hpp"

#include <algorithm>
#include <set>

#include "core/engine/queue_views.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"

namespace sluice::host {
namespace {

constexpr int kMostInstants = 200'000;
constexpr Duration kLongest = 366 * 24 * 3600 * kSecond;

/// Of each, whether nobody holds quota in the tree of its queue: nobody's end could help it.
std::vector<bool> freed_for(const Engine& engine, const std::vector<WorkloadId>& asked) {
  const Model& model = engine.model();
  std::set<NodeId> held;
  for (const QueueRecord& queue : model.queues)
    if (!queue.holders.empty() && queue.id < model.tree.node_count())
      held.insert(model.tree.root(queue.id));
  std::vector<bool> out;
  for (const WorkloadId id : asked) {
    const QueueRecord* queue = model.find_queue(cluster_queue_of(model, *engine.object(id)));
    out.push_back(!queue || !held.contains(model.tree.root(queue->id)));
  }
  return out;
}

}  // namespace

void Play::begin(WorkloadId id, Time since) {
  const Duration ran = std::max<Duration>(0, fork_.now() - since);
  if (const auto time = times_.draw(engine(), id, ran, draws_))
    ends_.set(later(since, *time), id);
  else if (mode_ == Mode::kSoonest)
    ends_.set(fork_.now(), id);
}

void Play::decided(Time now, const Decision& decision) {
  switch (decision.type) {
    case DecisionType::kAdmitted:
      begin(decision.workload, now);
      if (fork_.machine().kernel().waits_for_pods()) started_.push_back(decision.workload);
      break;
    case DecisionType::kEvicted:
    case DecisionType::kFinished:
    case DecisionType::kDeactivated:
      ends_.stop(decision.workload);
      break;
    default:
      break;
  }
}

void Play::end_due() {
  SimulatedJobs& jobs = fork_.jobs();
  while (const auto id = ends_.take_due(fork_.now())) {
    if (engine().state(*id) != WorkloadState::kAdmitted) continue;
    const auto job = jobs.job_of(*engine().object(engine().model().counted_as(*id)));
    if (job && jobs.complete(*job)) continue;
    // Of one that cannot end now nothing is known.
    static_cast<void>(jobs.end(engine().key(*id)));
  }
}

void Play::report_ready() {
  std::vector<WorkloadId> started;
  std::swap(started, started_);
  for (const WorkloadId id : started)
    if (engine().state(id) == WorkloadState::kAdmitted) fork_.jobs().report_ready(id);
}

Play::Seen Play::run(const std::vector<WorkloadId>& asked, Deadline deadline) {
  const Time from = fork_.now();
  for (const WorkloadId id : engine().workloads()) {
    if (engine().state(id) != WorkloadState::kAdmitted || !takes_part(engine().model(), id))
      continue;
    const api::Condition* admitted = engine().object(id)->status.condition("Admitted");
    begin(id, admitted && admitted->is_true() ? admitted->last_transition_time : from);
    if (fork_.machine().kernel().waits_for_pods()) started_.push_back(id);
  }
  fork_.machine().observe(*this);
  Seen out;
  out.starts.resize(asked.size());
  out.cut = true;
  report_ready();
  if (!fork_.run_to_rest(deadline)) return out;
  for (int instant = 0; instant < kMostInstants; ++instant) {
    bool all = true;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      std::optional<Time>& start = out.starts[i];
      if (!start && engine().state(asked[i]) == WorkloadState::kAdmitted) start = fork_.now();
      all &= start.has_value();
    }
    const Time next = std::min(fork_.machine().next_timer(), ends_.next());
    if (all || next == kNever || next - from > kLongest) {
      out.cut = false;
      for (const WorkloadId id : asked)
        out.reserved.push_back(engine().state(id) == WorkloadState::kQuotaReserved);
      out.freed = freed_for(engine(), asked);
      return out;
    }
    fork_.begin_instant(std::max(fork_.now(), next));
    end_due();
    if (!fork_.run_to_rest(deadline)) return out;
    report_ready();
    if (!fork_.run_to_rest(deadline)) return out;
  }
  return out;  // timers follow on timers, and nothing else happens
}

}  // namespace sluice::host
