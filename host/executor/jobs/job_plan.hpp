// plan_job(): what a Job needs next, from the Job, its Pods and the time alone: pods to create and
// to delete, ends to count, the status that follows, Events to write, when to look again.
//
// It decides as the Job controller of Kubernetes does: suspension, parallelism and completions,
// Indexed mode, back-off after failures, deadline, policies of failure and success, limits per
// index, deletion after a time. Counting is exact because each pod carries a finalizer until its
// end is in the status, and both are written in one transaction. Pure; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "host/executor/jobs/views.hpp"

namespace sluice::host {

struct NewPod {
  std::optional<std::int64_t> index;
  std::int64_t index_failures = 0;  ///< how often the index failed before
};

struct JobNote {
  bool warning = false;
  std::string reason, message;
};

struct JobPlan {
  boost::json::object status;
  std::vector<NewPod> create;
  std::vector<std::string> untrack;  ///< keys of pods whose end is counted, or never will be
  std::vector<std::string> remove;   ///< keys of pods to delete, after they are untracked
  std::vector<JobNote> notes;
  Time again = kNever;      ///< look again at this time, at the latest
  bool remove_job = false;  ///< its time after the end is over
};

/// At most so many pods are created in one step; the next step goes on.
inline constexpr std::size_t kMaxCreates = 500;

/// `most`: pods that may be created now; a caller that allows fewer than are missing plans again
/// later.
JobPlan plan_job(const BatchJob& job, const std::vector<JobPod>& pods, Time now,
                 std::size_t most = kMaxCreates);

}  // namespace sluice::host
