// Happenings: what became of each workload while a fork ran: where it stood before, and what was
// decided on it since.
//
// Reads the fork's engine, on the fork's thread; must outlive the fork's machine.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/kernel/kernel.hpp"

namespace sluice::host {

/// It has quota.
inline bool holds(WorkloadState state) {
  return state == WorkloadState::kAdmitted || state == WorkloadState::kQuotaReserved;
}

class Happenings final : public DecisionObserver {
 public:
  struct Of {
    WorkloadId workload = 0;
    bool evicted = false;
    /// Of the last eviction, or of what ended it: reason, preemptor, in which way.
    std::string reason, by, preemption;
  };

  /// One that held quota at the beginning, as it was then.
  struct Held {
    WorkloadId workload = 0;
    std::shared_ptr<const api::Workload> object;
    hooks::QueueId queue = 0;  ///< whose quota it was
  };

  /// From now on. O(workloads).
  void begin(const Engine& engine);
  void decided(Time now, const Decision& decision) override;

  const std::vector<Held>& held() const { return held_; }
  /// The workloads that something was decided on, in the order of the first decisions.
  const std::vector<Of>& all() const { return all_; }
  /// nullptr: nothing was decided on it.
  const Of* find(WorkloadId id) const;
  /// Where it stood; Pending where it was not there.
  WorkloadState before(WorkloadId id) const {
    return id < before_.size() ? before_[id] : WorkloadState::kPending;
  }
  bool existed(WorkloadId id) const { return id < before_.size(); }

 private:
  bool listening_ = false;
  std::vector<WorkloadState> before_;  // by id
  std::vector<Held> held_;
  std::vector<Of> all_;
  std::unordered_map<WorkloadId, std::size_t> places_;  // in all_
};

}  // namespace sluice::host
