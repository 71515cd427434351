// Pods from templates: what the controllers of jobs put into a pod that they create. Pure, except
// that a name is looked for among the objects that exist.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "host/executor/jobs/job_plan.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// A pod of a job without an end that ended is replaced so much later.
inline constexpr Duration kReplaceAfter = 10 * kSecond;

/// Five letters and digits, as Kubernetes uses them in names: the same for the same owner and
/// number, spread like random ones.
std::string name_suffix(std::string_view uid, std::uint64_t number);

/// `PREFIX-xxxxx`, cut to 63 characters, which no pod of the namespace has, and another one at
/// another time; `number` is where the search starts and is advanced.
std::string free_pod_name(const ObjectAccess& objects, std::string_view ns, std::string_view prefix,
                          std::string_view uid, std::uint64_t& number);

/// A pod of `pod_template` that `owner` controls.
boost::json::object pod_from_template(const boost::json::object& owner,
                                      const boost::json::object& pod_template,
                                      std::string_view name);

/// A pod of a Job: labels, tracking finalizer, and the index where the Job is Indexed.
boost::json::object job_pod(const boost::json::object& job, const BatchJob& view, const NewPod& pod,
                            std::string_view name);

/// Makes it one of several: label, annotation, host name and the variable JOB_COMPLETION_INDEX.
void give_index(boost::json::object& pod, std::int64_t number, std::string_view host_prefix);

/// Whether this job controls the pod: by a reference to its kind in a version that there is, its
/// name and its UID. What only has the UID is somebody's who knows it.
bool is_controlled_by(const boost::json::object& pod, const api::Scheme& scheme,
                      const ObjectRef& job, std::string_view uid);

/// The object that controls this one; nullptr when nothing does.
const boost::json::object* controller_of(const boost::json::object& metadata);

}  // namespace sluice::host
