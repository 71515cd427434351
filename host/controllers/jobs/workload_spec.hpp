// What a job's workload says: its object, made from the job; and the parts of it that follow the
// job's labels later on. For the kernel's thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/hooks/hooks.hpp"
#include "host/controllers/jobs/job_view.hpp"

namespace sluice::host {

/// The value of a priority class of either kind; nullopt: there is no such class.
std::optional<std::int64_t> priority_class_value(const ObjectReader& objects,
                                                 std::string_view api_version,
                                                 std::string_view kind, std::string_view name);

/// The priority of a pod that names this PriorityClass, or none: that of the class, or of the
/// global default one; 0 where there is no such class.
std::int64_t pod_priority(const ObjectAccess& objects, std::string_view class_name);

/// The queue, priority and time limit that the job asks for, as fields of a Workload's spec. The
/// error names what the job refers to and does not exist.
Result<boost::json::object> wishes_of(const JobView& view, const ObjectAccess& objects);

/// A new workload of the job; its name as `wanted` says or after the formula. Of the job's
/// annotations it has those that are for it, but none that only the system sets on a workload: what
/// users write on a job is no authority. `copied`: the labels of the job that it gets, but for such
/// ones.
boost::json::object make_workload(const api::KindInfo& workloads, const JobView& view,
                                  const hooks::NewJobWorkload& wanted, boost::json::array pod_sets,
                                  const boost::json::object& wishes,
                                  const std::vector<std::string>& copied);

/// What this plugin wants to have made, without marks that are not its own; it may claim it.
hooks::NewJobWorkload own_marks_alone(const api::KindInfo& workloads, std::string_view plugin,
                                      hooks::NewJobWorkload wanted);

/// Its name alone.
std::string name_of_new(const JobView& view, const hooks::NewJobWorkload& wanted);

/// The count of the pod set of that name, of those of a Workload; nullopt when there is none.
std::optional<std::int32_t> count_of(const boost::json::array& pod_sets, std::string_view name);

/// The reference by which the job owns its workloads.
boost::json::object owner_reference(const JobView& view);

}  // namespace sluice::host
