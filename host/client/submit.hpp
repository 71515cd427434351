// Submitting a program as a Job, and following it: what `sluice submit` does.
//
// make_job() is pure; follow_job() blocks the calling thread until the Job has ended.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/client/client.hpp"

namespace sluice::host {

struct Submission {
  std::string queue;
  std::string ns;    ///< empty: that of the kubeconfig
  std::string name;  ///< empty: drawn by the server after the program's name
  std::vector<std::string> argv;
  std::string working_dir;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::pair<std::string, std::string>> resources;  ///< requests and limits of each pod
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;  ///< absent: as many as parallelism
  bool indexed = false;
  std::int64_t retries = 0;
  std::string priority_class;
  std::optional<Duration> max_time;  ///< the queue ends it after so much running
};

/// The Job, without a namespace when none is named. An error names the option that is wrong.
Result<boost::json::object> make_job(const Submission& submission);

/// The LocalQueue to wait in: `wanted` if it exists, or with an empty one the only one of the
/// namespace. An error lists the existing ones. Without the right to list them nothing is checked.
Result<std::string> choose_queue(const Client& client, const std::string& ns,
                                 const std::string& wanted);

/// An error lists the WorkloadPriorityClasses that exist if `name` is none of them. Without the
/// right to read them nothing is checked.
Result<void> check_priority_class(const Client& client, const std::string& name);

struct FollowOptions {
  bool logs = false;  ///< the pods' output goes to standard output
};

/// Tells on standard error what happens to the Job, until it has ended, or will not run any more
/// because its workload was deactivated or ended without it; whether it succeeded.
Result<bool> follow_job(const Client& client, const std::string& ns, const std::string& name,
                        const FollowOptions& options);

}  // namespace sluice::host
