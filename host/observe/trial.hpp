// Trial: what Sluice would decide if it took over a cluster as it is now.
//
// A machine of its own gets a copy of the mirror, as a host finds its store after a restart, and
// one instant of the cluster's present time is run to rest. Nothing of it reaches the cluster or
// the mirror. Jobs are not started or stopped, so what happens to them later is not part of it.
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

namespace sluice::host {

struct TrialEviction {
  std::string reason, message;
  std::string by;  ///< key of the workload it makes room for; empty: for nobody
};

/// Notes who is evicted, for whom.
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

struct TrialOptions {
  const Configuration& config;
  std::optional<std::vector<std::string>> plugins;  ///< instead of those of the configuration
};

class Trial {
 public:
  /// `options.config` must outlive it; the mirror need not. An error when a plugin cannot be
  /// loaded.
  static Result<std::unique_ptr<Trial>> make(const TrialOptions& options, const LiveStore& mirror,
                                             const api::Scheme& scheme, Time now);

  /// Runs the instant. Before it the machine shows the cluster as it is. Once.
  void run();

  Machine& machine() { return *machine_; }
  const Engine& engine() const { return machine_->engine(); }
  const TrialNotes& notes() const { return *notes_; }
  /// Of the mirror that it was made from.
  std::uint64_t version() const { return version_; }
  Time now() const { return clock_.now(); }

 private:
  Trial() = default;
  void copy(const LiveStore& mirror, const api::Scheme& scheme);

  VirtualClock clock_;
  std::uint64_t version_ = 0;
  std::unique_ptr<Rules> rules_;
  MemoryStore store_;
  CountingIds ids_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<TrialNotes> notes_;
};

}  // namespace sluice::host
