// Play: a fork played on in virtual time: jobs that run end, those that start run, until those that
// were asked about have started or nothing is left to happen.
//
// Belongs to the fork's thread; the fork's machine must not outlive it.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "host/simulate/job_ends.hpp"
#include "host/whatif/fork.hpp"
#include "host/whatif/run_times.hpp"

namespace sluice::host {

class Play final : public DecisionObserver {
 public:
  /// kPossible: run times are drawn, what has no known end does not end. kSoonest: what has no
  /// known end ends at once.
  enum class Mode : std::uint8_t { kPossible, kSoonest };

  Play(Fork& fork, const RunTimes& times, Mode mode, std::uint64_t seed)
      : fork_(fork), times_(times), mode_(mode), draws_{std::mt19937_64(seed)} {}

  struct Seen {
    std::vector<std::optional<Time>> starts;  ///< by asked one; nullopt: it was not seen to start
    std::vector<bool> reserved;  ///< by asked one: at the end it held quota and was not admitted
    std::vector<bool> freed;     ///< by asked one: at the end nobody held quota in its queue's tree
    /// The deadline came before all had started, or it goes on for ever: of those that were not
    /// seen to start nothing is known. Otherwise they never do.
    bool cut = false;
  };
  Seen run(const std::vector<WorkloadId>& asked, Deadline deadline);

  /// Whether chance decided about a run time.
  bool drawn() const { return draws_.any; }

  void decided(Time now, const Decision& decision) override;

 private:
  const Engine& engine() const { return fork_.engine(); }
  void begin(WorkloadId id, Time since);
  void end_due();
  void report_ready();

  Fork& fork_;
  const RunTimes& times_;
  const Mode mode_;
  Draws draws_;
  JobEnds ends_;
  // In this instant, or before the play, where pods have to be ready: they are, at once.
  std::vector<WorkloadId> started_;
};

}  // namespace sluice::host
