// BatchJob and JobPod: what of a Job and its Pods decides what is done next. Plain values, read
// from objects in hub form; the functions are pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "host/executor/jobs/index_set.hpp"

namespace sluice::host {

inline constexpr const char* kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr const char* kIndexKey = "batch.kubernetes.io/job-completion-index";
inline constexpr const char* kIndexFailures = "batch.kubernetes.io/job-index-failure-count";

struct JobPod {
  enum class Phase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };
  std::string key, uid;
  Phase phase = Phase::kPending;
  bool deleting = false;  ///< metadata.deletionTimestamp is set
  bool tracked = false;   ///< has the tracking finalizer: its end is not counted yet
  bool bound = false;     ///< has a node
  bool ready = false;
  bool gated = false;  ///< has scheduling gates
  std::optional<std::int64_t> index;
  std::int64_t index_failures = 0;
  std::int64_t restarts = 0;  ///< of all containers
  Time created = 0;
  std::optional<Time> finished;  ///< the last container's end
  struct Exit {
    std::string container;
    std::int64_t code = 0;
  };
  std::vector<Exit> exits;              ///< of containers that ended with a code other than 0
  std::vector<std::string> conditions;  ///< `Type=Status`

  bool ended() const { return phase == Phase::kSucceeded || phase == Phase::kFailed; }
  bool active() const { return !ended() && !deleting; }
  bool terminating() const { return !ended() && deleting; }
};

JobPod read_pod(const boost::json::object& pod);

/// One rule of spec.podFailurePolicy.
struct FailureRule {
  enum class Action : std::uint8_t { kCount, kFailJob, kFailIndex, kIgnore };
  Action action = Action::kCount;
  std::string container;              ///< empty: any
  bool codes_in = true;               ///< else: not in
  std::vector<std::int64_t> codes;    ///< empty: the rule looks at conditions
  std::vector<std::string> patterns;  ///< `Type=Status`
};

/// One rule of spec.successPolicy.
struct SuccessRule {
  std::optional<IndexSet> indexes;    ///< nullopt: any
  std::optional<std::int64_t> count;  ///< so many of them are enough; nullopt: all
};

struct BatchJob {
  std::string key, ns, name, uid;
  bool suspend = false;
  bool indexed = false;
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  std::int64_t backoff_limit = 6;
  std::optional<std::int64_t> backoff_limit_per_index, max_failed_indexes;
  std::optional<Duration> active_deadline, ttl;
  bool restarts_in_place = false;    ///< restartPolicy OnFailure
  bool replace_failed_only = false;  ///< podReplacementPolicy Failed
  std::vector<FailureRule> failure_rules;
  std::vector<SuccessRule> success_rules;  ///< of Indexed Jobs only

  // status
  std::int64_t succeeded = 0, failed = 0;
  IndexSet completed_indexes, failed_indexes;
  std::optional<Time> start_time, completion_time;
  boost::json::object status;  ///< all of it

  bool deleting = false;
  bool managed_elsewhere = false;  ///< spec.managedBy names another controller
  /// A workload of its own holds quota for its pods. read_job() does not know.
  bool has_workload = false;

  /// Whether a pod that is only terminating is replaced already. Where quota counts, its processes
  /// do as well: with a long grace there would be more of them than were admitted.
  bool replaces_terminating() const { return !replace_failed_only && !has_workload; }
  bool condition(std::string_view type) const;
  bool finished() const { return condition("Complete") || condition("Failed"); }
};

BatchJob read_job(const boost::json::object& job);

}  // namespace sluice::host
