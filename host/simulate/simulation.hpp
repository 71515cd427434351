// Simulation: runs a Machine under a virtual clock, with a Timeline for the world outside and
// runtimes for the jobs.
//
// An instant is: timers and ends of jobs that are due, then all events of the Timelines, then
// cycles until rest; then the clock jumps to the next event, end or timer. Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/machine/machine.hpp"
#include "host/plugins/clock.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/record_sink.hpp"
#include "host/simulate/simulated_jobs.hpp"
#include "host/simulate/timeline_client.hpp"

namespace sluice::host {

struct SimulationTotals {
  std::uint64_t workloads = 0;  ///< that ever existed
  std::uint64_t admissions = 0;
  std::uint64_t evictions = 0;
  std::uint64_t cycles = 0;
  Duration last_change = 0;  ///< offset of the last instant at which anything changed
};

class Simulation final : public DecisionObserver {
 public:
  /// `clock` is set from here; it and the sink must outlive the simulation.
  Simulation(SimulationInput input, VirtualClock& clock, RecordSink& sink,
             TimelineClient::Bodies bodies)
      : input_(std::move(input)), clock_(clock), sink_(sink), bodies_(bodies) {}

  /// Runs to quiescence, or up to and including the instant `until`. An event that cannot be
  /// carried out ends it with `file:line`; a patch that the host refuses is recorded as skipped.
  /// `machine` is a new one with `jobs` as its pods and IDs.
  Result<SimulationTotals> run(Machine& machine, SimulatedJobs& jobs,
                               std::optional<Duration> until);

  void decided(Time now, const Decision& decision) override;

  Duration offset() const { return now_ - input_.start; }
  Time start() const { return input_.start; }

 private:
  struct End {
    Time at;
    std::uint64_t sequence;  ///< ties end in the order in which they started
    WorkloadId workload;
    std::uint32_t run;
    bool operator>(const End& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };

  void begin_instant(Time at);
  Result<void> put_initial_objects();
  Result<void> instant(Time at);
  Result<void> apply_event(TimelineEvent& event);
  Result<void> put(PreparedObject&& object, std::uint32_t order, PlaceRef place, bool event);
  Result<void> patch_event(const TimelineEvent& event);
  Result<void> delete_event(const TimelineEvent& event);
  void take_over_running(const std::string& key);
  Result<void> finish_event(const TimelineEvent& event);
  void finish_workload(const std::string& key);
  bool end_job(WorkloadId id);
  const Engine& engine() const { return machine_->engine(); }
  std::string job_workload(const std::string& job) const;
  void watch_workload(const std::string& key, bool created);
  void end_due_jobs();
  void start_job(WorkloadId id, Time started);
  void stop_job(WorkloadId id);
  bool report_ready();
  void count_new();
  Error refused(PlaceRef place, const std::string& what, const ApiError& why) const;

  SimulationInput input_;
  VirtualClock& clock_;
  RecordSink& sink_;
  const TimelineClient::Bodies bodies_;
  Machine* machine_ = nullptr;
  SimulatedJobs* jobs_ = nullptr;
  std::optional<TimelineClient> client_;
  Time now_ = 0;
  std::size_t next_event_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t sequence_ = 0;
  std::vector<std::uint32_t> runs_;    // per workload: a number that changes when its job stops
  std::vector<WorkloadId> uncounted_;  // created in this instant
  std::vector<WorkloadId> started_;    // in this instant, with waitForPodsReady
  bool changed_ = false;
  SimulationTotals totals_;
};

}  // namespace sluice::host
