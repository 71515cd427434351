// Fork: a machine beside a running host, with the host's state of one moment, that goes its own
// way: what is written and decided in it happens nowhere else.
//
// It has the host's configuration, its records (shared, fork_store.hpp), further instances of its
// plugins, for which this is a simulation, a virtual clock that stands at the moment of the fork,
// and jobs whose pods are only said to run. Admission checks are not answered in it: their plugins
// look outside. Engine and controllers take the state up as a host does that starts again, but look
// at nothing that the host has brought to rest. Made and used on one thread, which need not be one
// of the host's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/machine/machine.hpp"
#include "host/plugins/clock.hpp"
#include "host/simulate/simulated_jobs.hpp"
#include "host/store/live_store.hpp"
#include "host/whatif/fork_store.hpp"
#include "host/writes/ids.hpp"

namespace sluice::host {

/// Of the host; all must outlive the forks.
struct ForkSource {
  const Configuration& config;
  const Rules& rules;
  const LiveStore& store;
  bool makes_pods = false;  ///< the host itself, as MachineEdges has it
  WriteGuard guard = {};    ///< as the host's writer has it; asked on the fork's thread
};

/// When, by the host's clock and in its history. Taken on the kernel's thread.
struct ForkMoment {
  Time now = 0;
  std::uint64_t version = 0;  ///< published
  std::string uid = {};       ///< of no object; drawn after all that there are. Empty: those of the
                              ///< state are not in the order of their creation
  std::vector<std::string> quarantined = {};  ///< plugins that are called no more
  EngineMemory memory = {};                   ///< of the engine
  std::vector<std::string> uncertain = {};    ///< sentences: what answers about it do not know
};

/// When the client stops waiting.
using Deadline = std::chrono::steady_clock::time_point;

class Fork {
 public:
  /// The state at rest: what the host itself is about to decide is decided. An error says what kept
  /// it: a plugin of which there can be no second instance, too many writes meanwhile, the
  /// deadline.
  static Result<std::unique_ptr<Fork>> make(const ForkSource& source, const ForkMoment& moment,
                                            Deadline deadline);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  Machine& machine() { return *machine_; }
  const Engine& engine() const { return machine_->engine(); }
  SimulatedJobs& jobs() { return *jobs_; }
  Time now() const { return clock_.now(); }
  std::uint64_t version() const { return store_->version(); }

  /// Begins another instant, not before now.
  void begin_instant(Time at);
  /// An error when the deadline came first.
  Result<void> run_to_rest(Deadline deadline);

 private:
  explicit Fork(const Configuration& config) : config_(config) {}

  Configuration config_;
  VirtualClock clock_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<ForkStore> store_;
  std::unique_ptr<SimulatedJobs> jobs_;
  LiveIds ids_;
  std::unique_ptr<Machine> machine_;
};

}  // namespace sluice::host
