#include "host/whatif/run_times.hpp"

#include <algorithm>

#include "core/model/model.hpp"
#include "host/objects/runtime.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kFewest = 5;           // past runs from which anything is concluded
constexpr std::size_t kMostOfQueue = 2'000;  // past runs of a queue that are looked at

const std::string& local_queue_name(const Engine& engine, WorkloadId id) {
  return engine.model().local_queue_name(engine.model().workloads[id]);
}

}  // namespace

RunTimes::RunTimes(const Engine& engine, const SimulatedJobs& jobs, const PastRunTimes& kept)
    : jobs_(jobs) {
  for (const WorkloadId id : engine.workloads()) {
    if (engine.state(id) != WorkloadState::kFinished) continue;
    std::vector<Duration>& of_queue = past_[local_queue_name(engine, id)];
    if (of_queue.size() >= kMostOfQueue) continue;
    const api::WorkloadStatus status = engine.status(id);
    const api::Condition* admitted = status.condition("Admitted");
    const api::Condition* finished = status.condition("Finished");
    if (!admitted || !admitted->is_true() || !finished || finished->reason != "Succeeded") continue;
    of_queue.push_back(finished->last_transition_time - admitted->last_transition_time);
  }
  // Workloads that still exist are in the history, too: for each queue the longer list counts.
  for (const auto& [queue, times] : kept)
    if (std::vector<Duration>& of_queue = past_[queue]; times.size() >= of_queue.size())
      of_queue.assign(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(
                                                         std::min(times.size(), kMostOfQueue)));
  for (auto& [queue, times] : past_) std::sort(times.begin(), times.end());
}

std::optional<Duration> RunTimes::said(const Engine& engine, WorkloadId id) const {
  const auto workload = engine.object(engine.model().counted_as(id));
  if (const std::string* text = workload->meta.annotations.find(kRuntimeAnnotation))
    return parse_duration(*text);
  const auto job = jobs_.job_of(*workload);
  return job ? jobs_.runtime(*job) : std::nullopt;
}

std::pair<std::size_t, const std::vector<Duration>*> RunTimes::longer(const Engine& engine,
                                                                      WorkloadId id,
                                                                      Duration ran) const {
  const auto found = past_.find(local_queue_name(engine, id));
  if (found == past_.end() || found->second.size() < kFewest) return {0, nullptr};
  const auto first = std::upper_bound(found->second.begin(), found->second.end(), ran);
  if (first == found->second.end()) return {0, nullptr};
  return {static_cast<std::size_t>(first - found->second.begin()), &found->second};
}

RunTimeSource RunTimes::source(const Engine& engine, WorkloadId id, Duration ran) const {
  if (said(engine, id)) return RunTimeSource::kSaid;
  if (longer(engine, id, ran).second) return RunTimeSource::kPast;
  return engine.object(id)->maximum_execution_seconds ? RunTimeSource::kLimit
                                                      : RunTimeSource::kUnknown;
}

std::optional<Duration> RunTimes::draw(const Engine& engine, WorkloadId id, Duration ran,
                                       Draws& draws) const {
  if (const auto time = said(engine, id)) return std::max(*time, ran);
  const auto [first, times] = longer(engine, id, ran);
  if (!times) return std::nullopt;
  draws.any = true;
  std::uniform_int_distribution<std::size_t> any(first, times->size() - 1);
  return (*times)[any(draws.random)];
}

}  // namespace sluice::host
