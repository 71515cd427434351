#include "host/executor/job_users.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

namespace sluice::host {

Result<JobUsers> JobUsers::open(const std::filesystem::path& file, const UserRange& range) {
  JobUsers out(file, range);
  std::error_code problem;
  if (!std::filesystem::exists(file, problem)) {
    if (problem) return Error{file.string() + ": " + problem.message()};
    return out;
  }
  const auto text = read_file(file);
  if (!text) return system_error("cannot read", file);
  if (auto read = out.read(*text); !read) return read.error().context(file.string());
  return out;
}

Result<void> JobUsers::read(std::string_view text) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::int64_t user = 0;
    std::string ns, more;
    const bool whole = (words >> user >> ns) && !(words >> more) && user > 0;
    if (!whole || !users_.emplace(ns, user).second || !namespaces_.emplace(user, ns).second)
      return Error{"it is damaged at \"" + line +
                   "\"; allowed: a line USER NAMESPACE for each, none of them twice"};
  }
  return {};
}

Result<uid_t> JobUsers::of(std::string_view ns) {
  if (const auto found = users_.find(ns); found != users_.end())
    return static_cast<uid_t>(found->second);
  std::int64_t user = range_.first;
  for (auto at = namespaces_.lower_bound(user); at != namespaces_.end() && at->first == user; ++at)
    ++user;
  if (user >= range_.first + range_.count)
    return Error{"all " + std::to_string(range_.count) +
                 " users of executor.jobUsers belong to other namespaces"};
  std::string text;
  for (const auto& [each, name] : namespaces_) text += std::to_string(each) + " " + name + "\n";
  text += std::to_string(user) + " " + std::string(ns) + "\n";
  if (auto written = write_durably(file_, text); !written) return written.error();
  users_.emplace(ns, user);
  namespaces_.emplace(user, ns);
  return static_cast<uid_t>(user);
}

std::optional<Fd> claim_users(const std::filesystem::path& folder, const UserRange& range) {
  const std::filesystem::path file = folder / ("users-" + std::to_string(range.first) + ".lock");
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return {};
  return lock;  // where there can be no lock nobody is known to have it
}

std::string why_no_other_user(const UserRange& range) {
  if (::geteuid() != 0) return "the host does not run as root";
  const auto user = static_cast<uid_t>(range.first + range.count - 1);
  const pid_t pid = ::fork();
  if (pid < 0) return "no process can be started to try it";
  if (pid == 0) {
    const bool done = ::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
                      ::setresuid(user, user, user) == 0;
    ::_exit(done ? 0 : errno & 0x7f);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const int error = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
  return "this process may not become user " + std::to_string(user) + ": " +
         std::generic_category().message(error);
}

}  // namespace sluice::host
