#include "host/plugins/process/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/sanitizers.hpp"
#include "host/base/files.hpp"

namespace sluice::host {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "the system calls of this machine are not known: say which AUDIT_ARCH it is"
#endif
constexpr std::uint32_t kForeignCalls = 0x40000000;  // of x32, from there on

constexpr std::uint32_t refuse_with(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

/// Sockets of the machine itself only (AF_UNIX), and no way around socket(): io_uring, or the calls
/// of another machine.
constexpr std::array kNoNetwork = {
    sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
    sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0),
    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kForeignCalls, 0, 1),
    sock_filter BPF_STMT(BPF_RET | BPF_K, refuse_with(ENOSYS)),
    sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
    sock_filter BPF_STMT(BPF_RET | BPF_K, refuse_with(EPERM)),
    sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 1, 0),
    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
    sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    sock_filter BPF_STMT(BPF_RET | BPF_K, refuse_with(EACCES)),
};

/// What the child does before it becomes the program, worked out before it is there: it shares its
/// parent's memory then, and may only call the system.
struct Plan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* folder;
  int socket, said, library, null;
  int failed;  ///< takes a Failure, or is closed when the program begins
  pid_t parent;
  const ProcessConfig* process;
};

/// What the child says of a step that failed, in one piece.
struct Failure {
  const char* step;  ///< a text of the parent's, too
  int error;
};

bool limit(int resource, std::int64_t most) {
  const rlimit both{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  return ::setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0;
}

/// Beyond its memory: Go, for one, takes addresses for 1.5 GiB when it starts, and uses few.
constexpr std::int64_t kMoreAddresses = 8LL << 30;

/// What it may write to is limited; its addresses only so that shared memory has a limit, too.
bool set_limits(const ProcessConfig& process) {
  const bool sanitized = SLUICE_ASAN || SLUICE_TSAN;  // which need addresses without end
  if (!sanitized && process.memory_bytes > 0 &&
      !(limit(RLIMIT_DATA, process.memory_bytes) &&
        limit(RLIMIT_AS, process.memory_bytes + kMoreAddresses)))
    return false;
  if (process.cpu_seconds > 0 && !limit(RLIMIT_CPU, process.cpu_seconds)) return false;
  return limit(RLIMIT_NOFILE, process.files) && limit(RLIMIT_CORE, 0);
}

bool shut_network() {
  const sock_fprog program{kNoNetwork.size(), const_cast<sock_filter*>(kNoNetwork.data())};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool arrange_files(const Plan& plan) {
  if (::dup2(plan.null, 0) < 0 || ::dup2(plan.said, 1) < 0 || ::dup2(plan.said, 2) < 0 ||
      ::dup2(plan.socket, kChildSocket) < 0)
    return false;
  if (plan.library >= 0 && ::dup2(plan.library, kChildLibrary) < 0) return false;
  const unsigned int first = plan.library >= 0 ? kChildLibrary + 1 : kChildSocket + 1;
  return ::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

void forget_signals() {
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Answers only when a step failed.
const char* become(const Plan& plan) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != plan.parent)
    return "to die with its host";
  if (::setsid() < 0) return "a session of its own";
  forget_signals();
  if (!arrange_files(plan)) return "its descriptors";
  if (::chdir(plan.folder) != 0) return "its folder";
  if (!set_limits(*plan.process)) return "its limits";
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "no new privileges";
  if (!plan.process->network && !shut_network()) return "no network";
  ::execve(plan.program, plan.arguments, plan.environment);
  return plan.program;
}

/// By vfork(): the memory of a host with many objects is not copied, not even its page tables. What
/// failed comes by a pipe: where threads are watched (TSan), vfork() is fork().
pid_t start(const Plan& plan) {
  const pid_t pid = ::vfork();
  if (pid != 0) return pid;
  const char* const step = become(plan);
  const Failure failure{step, errno};
  [[maybe_unused]] const ssize_t n = ::write(plan.failed, &failure, sizeof(failure));
  ::_exit(127);
}

/// A descriptor beyond those that the child gets, so that none is written over.
int out_of_the_way(int fd) {
  constexpr int kFirstFree = 16;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree);
  ::close(fd);
  return moved;
}

/// The program of a command: with a `/` in it as it is, else the first in PATH.
std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::string candidate = std::string(folders.substr(0, end)) + "/" + name;
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

std::vector<std::string> environment_of(const ProcessConfig& process) {
  std::vector<std::string> out;
  for (const char* name : {"PATH", "TZ", "LANG", "ASAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
  out.push_back("SLUICE_PLUGIN_FD=" + std::to_string(kChildSocket));
  for (const auto& [name, value] : process.environment) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Descriptors of both sides; what nobody took is closed.
struct Ends {
  ~Ends() {
    for (const int fd : {ours, theirs, said, printed, null, fails, failed})
      if (fd >= 0) ::close(fd);
  }
  bool open() {
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return false;
    ours = pair[0];
    theirs = out_of_the_way(pair[1]);
    if (::pipe2(pair.data(), O_CLOEXEC) != 0) return false;
    said = pair[0];
    printed = out_of_the_way(pair[1]);
    if (::pipe2(pair.data(), O_CLOEXEC) != 0) return false;
    fails = pair[0];
    failed = out_of_the_way(pair[1]);
    null = out_of_the_way(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return theirs >= 0 && printed >= 0 && failed >= 0 && null >= 0 &&
           ::fcntl(said, F_SETFL, O_NONBLOCK) == 0;
  }
  /// What the child says before its program begins; nullopt: nothing failed.
  std::optional<Failure> failure() {
    ::close(std::exchange(failed, -1));
    Failure out{};
    ssize_t n = 0;
    do n = ::read(fails, &out, sizeof(out));
    while (n < 0 && errno == EINTR);
    return n == sizeof(out) ? std::optional<Failure>(out) : std::nullopt;
  }
  int ours = -1, theirs = -1, said = -1, printed = -1, null = -1, fails = -1, failed = -1;
};

}  // namespace

Result<Child> start_child(const ChildSpec& spec) {
  Ends ends;
  if (!ends.open()) return system_error("no socket and pipe for its process", errno);
  const std::string program = find_program(spec.command.at(0));
  if (program.empty()) return Error{"there is no program " + spec.command[0] + " in PATH"};
  std::vector<std::string> command = spec.command;
  std::vector<std::string> environment = environment_of(spec.process);
  const auto arguments = pointers(command);
  const auto variables = pointers(environment);
  const int library = spec.library < 0 ? -1 : out_of_the_way(::dup(spec.library));
  const Plan plan{program.c_str(), arguments.data(), variables.data(), spec.folder.c_str(),
                  ends.theirs,     ends.printed,     library,          ends.null,
                  ends.failed,     ::getpid(),       &spec.process};
  sigset_t all, before;  // no handler of the host's runs in the child
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = start(plan);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (library >= 0) ::close(library);
  if (pid < 0) return system_error("its process does not start", error);
  if (const auto failure = ends.failure()) {
    ::waitpid(pid, nullptr, 0);
    return system_error(fmt::format("its process does not start: {}", failure->step),
                        failure->error);
  }
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    const int why = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return system_error("its process cannot be watched", why);
  }
  ::fcntl(pidfd, F_SETFD, FD_CLOEXEC);
  return Child{pid, pidfd, std::exchange(ends.ours, -1), std::exchange(ends.said, -1)};
}

}  // namespace sluice::host
