#include "command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>

extern char** environ;

namespace provisioning {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kGrace(5);  // between the request to end and the end
constexpr std::size_t kMostOutput = 1U << 20;
constexpr std::size_t kMostErrors = 64U << 10;

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Fd() { close(); }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

bool make_pipe(Fd& read_end, Fd& write_end) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  read_end = Fd(ends[0]);
  write_end = Fd(ends[1]);
  return true;
}

/// What the new process needs, put together before the fork: after it nothing may allocate.
struct Prepared {
  explicit Prepared(const Command& command) {
    for (const std::string& argument : command.argv)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    for (char** each = environ; *each != nullptr; ++each) {
      const std::string_view text(*each);
      bool replaced = false;
      for (const auto& [name, value] : command.env)
        replaced =
            replaced || (text.starts_with(name) && text.substr(name.size()).starts_with('='));
      if (!replaced) envp.push_back(*each);
    }
    for (const auto& [name, value] : command.env) own.push_back(name + "=" + value);
    for (std::string& each : own) envp.push_back(each.data());
    envp.push_back(nullptr);
  }
  std::vector<char*> argv, envp;
  std::vector<std::string> own;
};

[[noreturn]] void become(const Prepared& prepared, int in, int out, int err, int failed) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execvpe(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  const int why = errno;
  [[maybe_unused]] const auto sent = ::write(failed, &why, sizeof why);
  ::_exit(127);
}

/// Reads what is there; false at the end.
bool drain(int fd, std::string& into, std::size_t most) {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (into.size() < most)
    into.append(buffer.data(), std::min(static_cast<std::size_t>(got), most - into.size()));
  return got > 0;
}

void ignore_pipe_signal() {
  // A program that ends without reading its input must not end the host: it ignores SIGPIPE, and
  // so does every program of the kit that loads plugins; block it here for all others.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// The parent's side of a program that runs.
class Running {
 public:
  Running(pid_t pid, Fd in, Fd out, Fd err)
      : pid_(pid),
        pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
        in_(std::move(in)),
        out_(std::move(out)),
        err_(std::move(err)) {
    for (const Fd* fd : {&in_, &out_, &err_}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  }

  bool is_followed() const { return pidfd_.get() >= 0; }

  void follow(const Command& command, const std::string& input, const Cancellation& cancellation,
              CommandResult& result) {
    const Clock::time_point limit = Clock::now() + std::chrono::seconds(command.timeout_seconds);
    Clock::time_point next = limit;
    result.end = CommandResult::End::kExited;
    bool asked = false;
    std::size_t sent = 0;
    if (input.empty()) in_.close();
    for (;;) {
      std::array<pollfd, 5> polled{{{pidfd_.get(), POLLIN, 0},
                                    {out_.get(), POLLIN, 0},
                                    {err_.get(), POLLIN, 0},
                                    {in_.get(), POLLOUT, 0},
                                    {asked ? -1 : cancellation.fd(), POLLIN, 0}}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      ::poll(polled.data(), polled.size(),
             static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
      if (polled[1].revents != 0 && !drain(out_.get(), result.output, kMostOutput)) out_.close();
      if (polled[2].revents != 0 && !drain(err_.get(), result.errors, kMostErrors)) err_.close();
      if (polled[3].revents != 0) feed(input, sent);
      if (polled[0].revents != 0) return;
      const bool late = Clock::now() >= next;
      if (!asked && (cancellation.cancelled() || late)) {
        result.end = cancellation.cancelled() ? CommandResult::End::kCancelled
                                              : CommandResult::End::kTimedOut;
        ::kill(-pid_, SIGTERM);
        next = Clock::now() + kGrace;
        asked = true;
      } else if (asked && late) {
        ::kill(-pid_, SIGKILL);
        next = Clock::now() + kGrace;
      }
    }
  }

  /// The program is over: nothing that it started stays, and its last words are read.
  int collect(CommandResult& result) {
    // Before the wait: as long as it is not waited for, the number of the group is its own.
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    while (out_.get() >= 0 && more(out_.get(), result.output, kMostOutput)) {
    }
    while (err_.get() >= 0 && more(err_.get(), result.errors, kMostErrors)) {
    }
    return status;
  }

 private:
  void feed(const std::string& input, std::size_t& sent) {
    const ssize_t done = ::write(in_.get(), input.data() + sent, input.size() - sent);
    if (done > 0) sent += static_cast<std::size_t>(done);
    if ((done < 0 && errno != EAGAIN && errno != EINTR) || sent == input.size()) in_.close();
  }
  static bool more(int fd, std::string& into, std::size_t most) {
    const std::size_t before = into.size();
    return drain(fd, into, most) && into.size() > before;
  }

  pid_t pid_;
  Fd pidfd_, in_, out_, err_;
};

CommandResult not_started(int why) {
  CommandResult out;
  out.status = why;
  return out;
}

}  // namespace

Cancellation::Cancellation() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Cancellation::~Cancellation() {
  if (fd_ >= 0) ::close(fd_);
}

void Cancellation::cancel() {
  cancelled_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto sent = ::write(fd_, &one, sizeof one);
}

CommandResult run_command(const Command& command, const std::string& input,
                          const Cancellation& cancellation) {
  ignore_pipe_signal();
  const Prepared prepared(command);
  Fd in_read, in_write, out_read, out_write, err_read, err_write, failed_read, failed_write;
  if (!make_pipe(in_read, in_write) || !make_pipe(out_read, out_write) ||
      !make_pipe(err_read, err_write) || !make_pipe(failed_read, failed_write))
    return not_started(errno);
  const pid_t pid = ::fork();
  if (pid < 0) return not_started(errno);
  if (pid == 0)
    become(prepared, in_read.get(), out_write.get(), err_write.get(), failed_write.get());
  ::setpgid(pid, pid);  // in both processes, so that it does not matter which one is first
  for (Fd* fd : {&in_read, &out_write, &err_write, &failed_write}) fd->close();
  int why = 0;
  if (::read(failed_read.get(), &why, sizeof why) == sizeof why) {
    ::waitpid(pid, nullptr, 0);
    return not_started(why);
  }
  CommandResult result;
  Running running(pid, std::move(in_write), std::move(out_read), std::move(err_read));
  if (!running.is_followed()) {
    running.collect(result);
    return not_started(ENOSYS);
  }
  running.follow(command, input, cancellation, result);
  const int status = running.collect(result);
  if (result.end != CommandResult::End::kExited) return result;
  if (WIFEXITED(status)) {
    result.status = WEXITSTATUS(status);
  } else {
    result.end = CommandResult::End::kSignalled;
    result.status = WTERMSIG(status);
  }
  return result;
}

std::string failure_of(const Command& command, const CommandResult& result) {
  std::string last = result.errors;
  while (!last.empty() && (last.back() == '\n' || last.back() == '\r')) last.pop_back();
  last = last.substr(last.rfind('\n') + 1).substr(0, 500);
  const std::string said = last.empty() ? "" : ": " + last;
  switch (result.end) {
    case CommandResult::End::kExited:
      return result.status == 0
                 ? ""
                 : "the command ended with code " + std::to_string(result.status) + said;
    case CommandResult::End::kSignalled:
      return "the command was ended by signal " + std::to_string(result.status) + said;
    case CommandResult::End::kTimedOut:
      return "the command took longer than " + std::to_string(command.timeout_seconds) +
             " seconds and was stopped" + said;
    case CommandResult::End::kCancelled:
      return "the command was stopped";
    case CommandResult::End::kNotStarted:
      return "the command " + command.argv[0] + " cannot be started: " +
             std::strerror(result.status);  // NOLINT(concurrency-mt-unsafe)
  }
  return "";
}

}  // namespace provisioning
