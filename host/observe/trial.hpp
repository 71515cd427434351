// Trial: what Sluice would decide if it took over a cluster as it is now.
//
// A machine of its own finds the mirror's objects, shared, as a host finds its store after a
// restart, and one instant of the cluster's present time is run to rest. Nothing of it reaches the
// cluster or the mirror. Jobs are not started or stopped, so what happens to them later is not part
// of it.
//
// Belongs to one thread, from make() on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/config/config.hpp"
#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"
#include "host/whatif/fork_store.hpp"

namespace sluice::host {

struct TrialEviction {
  std::string reason, message;
  std::string by;  ///< key of the workload it makes room for; empty: none
};

/// Notes which workloads are evicted, and for which.
class TrialNotes final : public DecisionObserver {
 public:
  explicit TrialNotes(const Engine& engine) : engine_(engine) {}
  void decided(Time now, const Decision& decision) override;

  /// By key of the workload.
  const std::map<std::string, std::vector<TrialEviction>>& evictions() const { return evictions_; }

 private:
  const Engine& engine_;
  std::map<std::string, std::vector<TrialEviction>> evictions_;
};

/// All must outlive the trials, the store (the mirror's) only their making.
struct TrialSource {
  const Configuration& config;
  const Rules& rules;
  const LiveStore& store;
};

class Trial {
 public:
  /// An error when a plugin has no second instance, or the mirror changes faster than it is read.
  static Result<std::unique_ptr<Trial>> make(const TrialSource& source, Time now);

  /// Runs the instant. Before it the machine shows the cluster as it is. Once.
  void run();

  Machine& machine() { return *machine_; }
  const Engine& engine() const { return machine_->engine(); }
  const TrialNotes& notes() const { return *notes_; }
  /// Of the mirror that it was made from.
  std::uint64_t version() const { return store_->version(); }
  Time now() const { return clock_.now(); }

 private:
  Trial() = default;

  VirtualClock clock_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<ForkStore> store_;
  CountingIds ids_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<TrialNotes> notes_;
};

}  // namespace sluice::host
