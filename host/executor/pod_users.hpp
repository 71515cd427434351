// PodUsers: as whom the processes of pods run, and where their working directories are.
//
// Where the host may start others, what is the host's is not its jobs': each namespace has a user
// of its own (job_users.hpp). Elsewhere pods run as the host. Used by the executor's thread.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/config/config.hpp"
#include "host/executor/job_users.hpp"
#include "host/executor/pod_plan.hpp"

namespace sluice::host {

class PodUsers {
 public:
  /// `folder` is the executor's. Says in the log what holds, and why. An error when the
  /// configuration wants users and there can be none, or their file is damaged.
  static Result<PodUsers> open(const JobUsersConfig& config, const std::filesystem::path& folder);

  /// Whether pods run as others than the host.
  bool apart() const { return users_.has_value(); }
  /// Whether what a pod shares by name is its own (process/own_memory.hpp); only when apart().
  bool own_memory() const { return own_memory_; }
  /// Of working directories, when apart(); else empty.
  const std::filesystem::path& work() const { return work_; }

  Result<PodUser, PodProblem> of(const std::string& uid, const boost::json::object& pod);

 private:
  std::optional<JobUsers> users_;  // nothing: pods run as this process
  std::optional<Fd> claim_;        // then: no other host gives them away
  std::filesystem::path work_;
  bool own_memory_ = false;
};

/// `NAME=value` of the host that are not true of another user.
void drop_own_variables(std::vector<std::string>& environment);

}  // namespace sluice::host
