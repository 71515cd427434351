// What is made at another place of a workload and of its job, and what is read of it there.
//
// Pure functions of objects; any thread.
#pragma once

#include <sluice/plugin.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "plan.hpp"

namespace clusters {

/// Whose copies they are, and of what.
struct Origin {
  std::string manager;  ///< the value of the label
  std::string uid;      ///< of the workload here
  std::uint64_t attempt = 0;
};

/// Pods of the workload's first pod set.
std::int64_t size_of(const sluice::Json& workload);

/// A pod set that may start with fewer pods than it asks for, and was granted fewer.
bool is_granted_less(const sluice::Json& workload);

/// Of a Job that may start with fewer pods it asks for those that were granted here, and no fewer:
/// what runs there is what counts here.
sluice::Json workload_copy(const sluice::Json& workload, const Origin& origin);
/// The job as its user wrote it: nothing that this host put into it goes along.
sluice::Json job_copy(const sluice::Json& job, std::string_view workload, const Origin& origin);
/// A copy of a Job, with the pods that the copy of its workload asks for.
void take_granted(sluice::Json& job, const sluice::Json& workload);

/// As it is there; of another workload than `uid` its attempt is 0.
WorkloadCopy read_workload(const sluice::Json& there, std::string_view uid);
JobCopy read_job(const sluice::Json& there, std::string_view uid);

/// A merge patch that turns the status `now` into `wanted`; nullopt: nothing is to be done.
std::optional<sluice::Json> status_patch(const sluice::Json& now, const sluice::Json& wanted);

/// The conditions of `object` with this one in place of the one of its type.
sluice::Json with_condition(const sluice::Json& object, sluice::Json condition);

}  // namespace clusters
