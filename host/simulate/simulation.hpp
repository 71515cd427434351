// Simulation: runs the host's kernel under a virtual clock, with a Timeline for the world outside
// and runtimes for the jobs.
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
#include "host/kernel/kernel.hpp"
#include "host/plugins/clock.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/job_host.hpp"
#include "host/simulate/record_sink.hpp"

namespace sluice::host {

struct SimulationTotals {
  std::uint64_t workloads = 0;  ///< that ever existed
  std::uint64_t admissions = 0;
  std::uint64_t evictions = 0;
  std::uint64_t cycles = 0;
  Duration last_change = 0;  ///< offset of the last instant at which anything changed
};

/// The virtual clock as plugins see it. Calls into plugins take no time here, so that a run does
/// not depend on how busy the machine is.
class VirtualClock final : public PluginClock {
 public:
  Time now() const override { return time_; }
  Duration steady() const override { return 0; }
  bool is_virtual() const override { return true; }
  void set(Time time) { time_ = time; }

 private:
  Time time_ = 0;
};

class Simulation final : public DecisionObserver {
 public:
  /// `clock` is set from here; it and the sink must outlive the simulation.
  Simulation(SimulationInput input, VirtualClock& clock, RecordSink& sink)
      : input_(std::move(input)), clock_(clock), sink_(sink) {}

  /// Runs to quiescence, or up to and including the instant `until`. An event that cannot be
  /// carried out ends it with `file:line`. `kernel` must have been made with this object as its
  /// observer.
  /// `jobs`: what manages the jobs of the input; nullptr when it has none.
  Result<SimulationTotals> run(Kernel& kernel, JobHost* jobs, std::optional<Duration> until);

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
  Result<void> put_job(PreparedObject&& object, std::uint32_t order, PlaceRef place, bool event);
  Result<void> patch_event(const TimelineEvent& event);
  void delete_event(const EventTarget& target);
  Result<void> finish_event(const TimelineEvent& event);
  void finish_workload(const std::string& key);
  bool end_job(WorkloadId id);
  std::string job_workload(const std::string& job) const;
  void watch_workload(const std::string& key, bool created);
  void end_due_jobs();
  void start_job(WorkloadId id, Time started);
  void stop_job(WorkloadId id);
  bool report_ready();
  void count_new();
  Error refused(PlaceRef place, const std::string& what, const std::vector<api::Problem>& problems);

  SimulationInput input_;
  VirtualClock& clock_;
  RecordSink& sink_;
  Kernel* kernel_ = nullptr;
  JobHost* jobs_ = nullptr;
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
