// RunLog: turns what is published of workloads and pods into runs.
//
// It remembers nothing itself: what became of a workload before, it asks PastRuns, whose answers it
// keeps until take(). So the same change given twice counts once, a restart goes on where the past
// ends, and a host with a million workloads keeps none of them here. Invariant: of a workload at
// most the last run goes on. Belongs to one thread.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/history/facts.hpp"
#include "host/history/run.hpp"

namespace sluice::host {

/// What was written so far.
class PastRuns {
 public:
  virtual ~PastRuns() = default;
  /// All runs of a workload, in order of their numbers.
  virtual std::vector<Run> of(std::string_view uid) = 0;
};

class RunLog {
 public:
  /// `past` must outlive it.
  explicit RunLog(PastRuns& past) : past_(past) {}

  /// A workload that is new, or changed. `now`: when what has no time of its own happened.
  void changed(const WorkloadFacts& facts, Millis now);
  /// It is gone; `last`: as it was.
  void removed(const WorkloadFacts& last, Millis now);
  /// An open run whose workload is gone, without a change that says when.
  void lost_sight(std::string_view uid, Millis last_seen);
  /// What a pod used that ended.
  void used(std::string_view uid, const PodUse& use);

  /// The runs that are other than they were, as they are now; begins anew.
  std::vector<Run> take();

 private:
  struct Known {
    std::vector<Run> runs;
    std::vector<bool> changed;
  };
  Known& known(std::string_view uid);
  static Run& touch(Known& known, std::size_t i);
  static Run& add(Known& known, const WorkloadFacts& facts);
  static Run* open_run(Known& known);

  PastRuns& past_;
  std::unordered_map<std::string, Known> known_;  // by UID
};

}  // namespace sluice::host
