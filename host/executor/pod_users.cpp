#include "host/executor/pod_users.hpp"

#include <unistd.h>

#include <utility>

#include "api/json/decode_parts.hpp"
#include "host/base/log.hpp"
#include "host/executor/process/linked_folder.hpp"
#include "host/executor/process/own_memory.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

Result<PodUsers> PodUsers::open(const JobUsersConfig& config, const std::filesystem::path& folder) {
  using Mode = JobUsersConfig::Mode;
  PodUsers out;
  if (config.mode == Mode::kOff) return out;
  const UserRange range{config.first, config.count};
  std::string why_not = why_no_other_user(range);
  const Result<std::string> name = identity_of(folder);
  if (!name) return name.error();
  const std::filesystem::path work = std::filesystem::path(config.work_path) / *name;
  // To run as root because of a folder would be no way out.
  if (why_not.empty())
    if (auto made = make_open_folders(work); !made)
      return made.error().context("executor.jobUsers.workPath");
  if (!why_not.empty()) {
    if (config.mode == Mode::kOn) return Error{"executor.jobUsers.mode: on: " + why_not};
    log(::geteuid() == 0 ? LogLevel::kWarning : LogLevel::kInfo, "executor",
        "pods run as the user of the host", {{"reason", why_not}});
    return out;
  }
  auto users = JobUsers::open(folder / "users", range);
  if (!users) return users.error();
  out.users_ = std::move(*users);
  out.work_ = work;
  out.claim_ = claim_users(config.work_path, range);
  if (!out.claim_)
    log(LogLevel::kWarning, "executor",
        "another host gives its namespaces the same users: jobs of both can end and read each "
        "other",
        {{"first", std::to_string(range.first)}, {"remedy", "executor.jobUsers.first"}});
  const bool hidden = is_in_shared_memory(folder) || is_in_shared_memory(work);
  const std::string shared =
      hidden ? "the host keeps what it knows of them in /dev/shm" : why_no_own_memory();
  out.own_memory_ = shared.empty();
  log(LogLevel::kInfo, "executor", "pods run as a user of their namespace",
      {{"first", std::to_string(range.first)}, {"work", work.string()}});
  if (!out.own_memory_)
    log(LogLevel::kWarning, "executor",
        "pods use the shared memory of the machine: what they leave there stays",
        {{"reason", shared}});
  return out;
}

Result<PodUser, PodProblem> PodUsers::of(const std::string& uid, const boost::json::object& pod) {
  if (!users_) return PodUser{{::geteuid(), ::getegid()}};
  const auto user = users_->of(api::find_text(part(pod, "metadata"), "namespace"));
  if (!user) return PodProblem{"StartError", user.error().text};
  return PodUser{{*user, *user}, (work_ / uid).string()};
}

void drop_own_variables(std::vector<std::string>& environment) {
  for (const char* own : {"HOME", "USER", "LOGNAME", "TMPDIR"})
    std::erase_if(environment, [&](const std::string& each) {
      return each.starts_with(std::string(own) + "=");
    });
}

}  // namespace sluice::host
