#include "host/executor/process/keeper.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <vector>

#include "host/base/files.hpp"

namespace sluice::host {
namespace {

constexpr int kRunnerDied = SIGHUP;

std::vector<pid_t> children() {
  std::vector<pid_t> out;
  const auto text = read_file("/proc/thread-self/children");
  const char* at = text ? text->data() : nullptr;
  const char* const end = text ? at + text->size() : nullptr;
  while (at != end) {
    pid_t pid = 0;
    const auto parsed = std::from_chars(at, end, pid);
    if (parsed.ec != std::errc() || pid <= 0) break;
    out.push_back(pid);
    at = parsed.ptr;
    while (at != end && *at == ' ') ++at;
  }
  return out;
}

sigset_t keeper_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, kRunnerDied}) ::sigaddset(&set, number);
  return set;
}

/// The status of `first`, or nothing while it runs. Reaps whatever else ended.
bool has_ended(pid_t first, int& status) {
  int each = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &each, WNOHANG)) > 0;) {
    if (pid != first) continue;
    status = each;
    return true;
  }
  return false;
}

[[noreturn]] void end_as(int status) {
  if (!WIFSIGNALED(status)) ::_exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const rlimit none{0, 0};  // the core, if there is one, is the container's
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(number, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  ::kill(::getpid(), number);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::_exit(128 + number);
}

}  // namespace

void end_children(const std::function<bool(pid_t)>& spared) {
  // Those of the killed ones come to this process, and are seen in the next round.
  for (;;) {
    bool any = false;
    for (const pid_t pid : children()) {
      if (spared(pid)) continue;
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      any = true;
    }
    if (!any) return;
  }
}

bool become_keeper(pid_t runner) {
  const sigset_t signals = keeper_signals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, kRunnerDied);
  return ::getppid() == runner;  // else it died before the line above
}

void keep_container(pid_t first) {
  const sigset_t signals = keeper_signals();
  int status = 0;
  while (!has_ended(first, status)) {
    const int signal = ::sigwaitinfo(&signals, nullptr);
    if (signal == SIGTERM) ::kill(-first, SIGTERM);
    if (signal == kRunnerDied) {
      end_children([](pid_t) { return false; });
      ::_exit(1);
    }
  }
  end_children([](pid_t) { return false; });
  end_as(status);
}

}  // namespace sluice::host
