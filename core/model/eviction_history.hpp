// EvictionHistory: which workloads evicted which lately, so that preemption always makes progress
// (semantics 8).
//
// Two memories over one window: how often a workload issued preemptions (the third time it may
// earmark what it preempts for), and which pairs (preemptor, victim) there were (no way back).
// What is older than the window counts for nothing; of a workload that ends all is forgotten. The
// engine's thread writes it between the parallel parts of a cycle; blocked() may be called by many
// threads.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

class EvictionHistory {
 public:
  static constexpr int kMostEvictions = 5;

  void set_window(Duration window) { window_ = window; }

  /// `preemptor` issued preemptions; how many times within the window, this one included.
  int issued(WorkloadId preemptor, Time now);
  /// `victim` is evicted to make room for `preemptor`.
  void evicted(WorkloadId preemptor, WorkloadId victim, Time now);

  /// True when `preemptor` has evicted `victim` twice already while it has itself been evicted to
  /// make room for `victim`, directly or through a chain of evictions; or, whatever the reason for
  /// its coming back, when it has evicted it kMostEvictions times. So no instant can go on for
  /// ever, also where traits of plugins contradict each other. O(1) unless they have met twice.
  bool blocked(WorkloadId preemptor, WorkloadId victim, Time now) const;

  /// fn(preemptor, times) of all workloads that issued preemptions.
  template <typename Fn>
  void each_issue(Fn&& fn) const {
    for (const auto& [id, times] : issues_) fn(id, times);
  }
  /// fn(preemptor, victim, count, last) of all pairs.
  template <typename Fn>
  void each_meeting(Fn&& fn) const {
    for (const auto& [preemptor, victims] : victims_of_)
      for (const auto& [victim, met] : victims) fn(preemptor, victim, met.count, met.last);
  }
  /// As another history has it, of workloads of which there is nothing here.
  void recall_issues(WorkloadId preemptor, std::vector<Time> times) {
    issues_[preemptor] = std::move(times);
  }
  void recall_meeting(WorkloadId preemptor, WorkloadId victim, int count, Time last) {
    victims_of_[preemptor][victim] = evicted_by_[victim][preemptor] = {count, last};
  }

  /// The workload ended: nothing that concerns it counts any more.
  void forget(WorkloadId id);

 private:
  struct Meetings {
    int count = 0;
    Time last = 0;
  };
  /// Of one workload with others.
  using Pairs = std::unordered_map<WorkloadId, std::unordered_map<WorkloadId, Meetings>>;

  bool fresh(const Meetings& met, Time now) const { return now - met.last <= window_; }
  void record(Pairs& pairs, WorkloadId from, WorkloadId other, Time now);

  Duration window_ = 300 * kSecond;
  std::unordered_map<WorkloadId, std::vector<Time>> issues_;
  Pairs victims_of_;  // preemptor → its victims
  Pairs evicted_by_;  // victim → its preemptors
};

}  // namespace sluice
