// Names: labels and annotations by which jobs and workloads know each other, the formula for the
// name of a job's workload, and the jobs that own an object. The first two are Kueue's, so that its
// tools find what they look for. Pure functions of what they are given, any thread that may read
// it.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/objects/object_access.hpp"
#include "host/objects/store.hpp"
#include "host/objects/work_key.hpp"

namespace sluice::host {

inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kDefaultQueue = "default";
inline constexpr std::string_view kPriorityClassLabel = "kueue.x-k8s.io/priority-class";
/// An annotation, or a label: see prebuilt_of().
inline constexpr std::string_view kPrebuilt = "kueue.x-k8s.io/prebuilt-workload-name";
inline constexpr std::string_view kMaxExecutionLabel = "kueue.x-k8s.io/max-exec-time-seconds";
inline constexpr std::string_view kMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view kCompletionsEqual =
    "kueue.x-k8s.io/job-completions-equal-parallelism";
inline constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
/// What was put into a running job, so that it can be taken out again.
inline constexpr std::string_view kStartedWith = "sluice.dev/started-with";
/// On the templates of a job that the host started: with the UID of the workload. Who gives a job
/// its templates back takes it away with the rest, so that the record above is known to be over.
inline constexpr std::string_view kStartMark = "sluice.dev/started";

/// `<kind>-<job>-<5 hex digits>`, the kind in lower case, cut to 253 bytes. The digits are the
/// beginning of the SHA-1 of kind, group, name, UID and, unless empty, `revision`, one per line.
std::string workload_name(std::string_view kind, std::string_view group, std::string_view job,
                          std::string_view uid, std::string_view revision = {});

/// All kinds of the scheme whose objects are jobs.
std::vector<const api::KindInfo*> job_kinds(const api::Scheme& scheme);

/// `Workload` and these kinds, as Controller::watches() names them.
std::vector<std::string> workloads_and(std::span<const api::KindInfo* const> jobs);

/// A job that controls an object; `object` is nullopt where that job is gone, if another has its
/// name by now or not.
struct JobInControl {
  ObjectRef ref;
  std::string uid;  ///< of the job that is meant
  std::optional<boost::json::object> object;
};
std::vector<JobInControl> jobs_in_control(const boost::json::object& owned,
                                          const ObjectReader& objects);

/// Appends each object of these kinds that owns the object.
void name_owners(std::span<const api::KindInfo* const> kinds, const StoredObject& object,
                 std::vector<WorkKey>& keys);

}  // namespace sluice::host
