// Simulation: runs a Machine under a virtual clock, with a Timeline for the world outside and
// runtimes for the jobs.
//
// An instant is: timers and ends of jobs that are due, then all events of the Timelines, then
// cycles until rest; then the clock jumps to the next event, end or timer. Without an end of its
// own it is over when it is seen that it would go on for ever. Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/machine/machine.hpp"
#include "host/objects/object_key.hpp"
#include "host/plugins/clock.hpp"
#include "host/simulate/endless.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/job_ends.hpp"
#include "host/simulate/progress_notes.hpp"
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
  std::string endless;       ///< what would keep it going for ever; empty: it came to its end
};

class Simulation final : public DecisionObserver {
 public:
  /// `clock` is set from here; it, the sink and the notes must outlive the simulation. `requeues`:
  /// after how many a workload is deactivated.
  Simulation(SimulationInput input, VirtualClock& clock, RecordSink& sink, ProgressNotes& notes,
             TimelineClient::Bodies bodies, std::optional<std::int32_t> requeues)
      : input_(std::move(input)),
        clock_(clock),
        sink_(sink),
        notes_(notes),
        bodies_(bodies),
        endless_(requeues) {}

  /// Runs to quiescence, or up to and including the instant `until`; without it no further than it
  /// takes to see that there is no quiescence. An event that cannot be carried out ends it with
  /// `file:line`; a patch that the host refuses is recorded as skipped.
  /// `machine` is a new one with `jobs` as its pods and IDs.
  Result<SimulationTotals> run(Machine& machine, SimulatedJobs& jobs,
                               std::optional<Duration> until);

  void decided(Time now, const Decision& decision) override;

  Duration offset() const { return now_ - input_.start; }
  Time start() const { return input_.start; }

 private:
  void begin_instant(Time at);
  std::uint64_t steps() const;
  std::optional<Time> next_instant();
  bool no_event_left() const { return next_event_ == input_.events.size(); }
  bool runs_for_ever();
  bool rests();
  std::string who_keeps_it_there() const;
  std::string what_goes_round() const;
  bool progress_to_come(WorkloadId id) const;
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
  std::vector<WorkloadId> workloads_owned_by(const KeyParts& job) const;
  void watch_workload(const std::string& key, bool created);
  void end_due_jobs();
  void start_job(WorkloadId id, Time started);
  bool report_ready();
  void count_new();
  Error refused(PlaceRef place, const std::string& what, const ApiError& why) const;

  SimulationInput input_;
  VirtualClock& clock_;
  RecordSink& sink_;
  ProgressNotes& notes_;
  const TimelineClient::Bodies bodies_;
  Machine* machine_ = nullptr;
  SimulatedJobs* jobs_ = nullptr;
  std::optional<TimelineClient> client_;
  Time now_ = 0;
  std::size_t next_event_ = 0;
  JobEnds ends_;
  std::vector<WorkloadId> uncounted_;  // created in this instant
  std::vector<WorkloadId> started_;    // in this instant, with waitForPodsReady
  bool changed_ = false;
  std::uint64_t decisions_ = 0;
  Endless endless_;
  SimulationTotals totals_;
};

}  // namespace sluice::host
