// Estimate: when those that would wait would start, if nothing else is submitted: the state is
// played on a number of times, each with other run times that are possible.
//
// Belongs to the thread of the forks.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "host/whatif/answer.hpp"
#include "host/whatif/run_times.hpp"

namespace sluice::host {

/// A fork in which the question was put, at rest; the same each time.
struct Put {
  std::unique_ptr<Happenings> since = std::make_unique<Happenings>();  // the fork tells it
  std::unique_ptr<Fork> fork;
  std::vector<Granted> granted;
  std::vector<Asked> asked;

  std::vector<WorkloadId> waiting() const {
    std::vector<WorkloadId> out;
    for (const Asked& each : asked)
      if (waits(fork->engine(), each.workload)) out.push_back(each.workload);
    return out;
  }
};
using PutAgain = std::function<ApiResult<Put>()>;

/// One per asked workload that waits, in their order, as docs/what-if.md describes it; fewer when
/// it could not be worked out. Takes until the deadline at most: fewer plays tell less. `kept`:
/// past run times beyond those of the objects that are there. `first` is played on as the first: to
/// fork costs more than most plays.
std::vector<boost::json::object> estimate_starts(Put first, const PutAgain& put,
                                                 const PastRunTimes& kept, Deadline deadline);

}  // namespace sluice::host
