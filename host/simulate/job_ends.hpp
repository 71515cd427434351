// JobEnds: when the jobs that run now will end, under a virtual clock.
//
// A run that was stopped (evicted, deleted) has no end any more; the next run of its workload gets
// one of its own. Ends of one instant come in the order in which they were set. Invariant: of each
// workload at most one end is to come. Belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/workload_state.hpp"

namespace sluice::host {

class JobEnds {
 public:
  /// The run that goes on now ends then.
  void set(Time at, WorkloadId id) {
    Run& run = run_of(id);
    run.ending = ++run.number;
    ends_.push({at, sequence_++, id, run.number});
  }
  /// It runs no more, or runs again.
  void stop(WorkloadId id) {
    if (id < runs_.size()) ++runs_[id].number;
  }
  /// Whether its present run has an end to come.
  bool has(WorkloadId id) const {
    return id < runs_.size() && runs_[id].ending != 0 && runs_[id].ending == runs_[id].number;
  }
  /// Of the end that comes next; kNever without one.
  Time next() {
    while (!ends_.empty() && runs_[ends_.top().workload].number != ends_.top().run) ends_.pop();
    return ends_.empty() ? kNever : ends_.top().at;
  }
  /// The workload whose end is due; nullopt: none (any more).
  std::optional<WorkloadId> take_due(Time now) {
    if (next() > now || ends_.empty()) return std::nullopt;
    const WorkloadId id = ends_.top().workload;
    ends_.pop();
    return id;
  }

 private:
  struct Run {
    std::uint32_t number = 0;  ///< changes when the job stops
    std::uint32_t ending = 0;  ///< the run that has an end
  };
  struct End {
    Time at;
    std::uint64_t sequence;
    WorkloadId workload;
    std::uint32_t run;
    bool operator>(const End& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };
  Run& run_of(WorkloadId id) {
    if (runs_.size() <= id) runs_.resize(std::max<std::size_t>(id + 1, runs_.size() * 2));
    return runs_[id];
  }

  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t sequence_ = 0;
  std::vector<Run> runs_;  // by workload
};

}  // namespace sluice::host
