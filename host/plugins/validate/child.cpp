#include "host/plugins/validate/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

namespace sluice::host {

namespace {

using Clock = std::chrono::steady_clock;
using Status = TestVerdict::Status;

/// What the child says goes through the pipe as one status letter and the detail.
constexpr std::string_view kLetters = "sfcx";

[[noreturn]] void run_test(const std::function<TestVerdict()>& test, int pipe) {
  // What the plugin prints is not our result.
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null >= 0) {
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  note_deaths();
  TestVerdict verdict;
  try {
    verdict = test();
  } catch (const std::exception& e) {
    verdict = {Status::kFailed, std::string("an exception crossed the line: ") + e.what(), {}};
  } catch (...) {
    verdict = {Status::kFailed, "an exception that is no std::exception crossed the line", {}};
  }
  const std::string text =
      std::string(1, kLetters[static_cast<std::size_t>(verdict.status)]) + verdict.detail;
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::write(pipe, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  ::_exit(0);  // no destructors: the test is over, whatever the plugin left behind
}

/// Everything until the pipe closes; false when the time is over first.
bool read_all(int pipe, Clock::time_point until, std::string& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{pipe, POLLIN, 0};
    const int n = ::poll(&ready, 1, static_cast<int>(left));
    if (n < 0 && errno != EINTR) return true;
    if (n <= 0) continue;
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string_view status_name(Status status) {
  constexpr std::array<std::string_view, 4> kNames = {"success", "failed", "crashed", "skipped"};
  return kNames[static_cast<std::size_t>(status)];
}

namespace {

TestVerdict verdict_of_child(const std::function<TestVerdict()>& test,
                             std::chrono::milliseconds timeout) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return {Status::kFailed, std::string("no pipe for the test: ") + std::strerror(errno), {}};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    run_test(test, pipe[1]);
  }
  ::close(pipe[1]);
  if (child < 0) {
    ::close(pipe[0]);
    return {Status::kFailed, std::string("no process for the test: ") + std::strerror(errno), {}};
  }
  std::string text;
  const bool in_time = read_all(pipe[0], Clock::now() + timeout, text);
  ::close(pipe[0]);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    return {
        Status::kCrashed, "it did not end within " + std::to_string(timeout.count()) + " ms", {}};
  if (WIFSIGNALED(status))
    return {Status::kCrashed, std::string("signal ") + ::strsignal(WTERMSIG(status)), {}};
  const auto letter = text.empty() ? kLetters.npos : kLetters.find(text[0]);
  if (letter == kLetters.npos)
    return {Status::kCrashed,
            "it ended the process with exit status " + std::to_string(WEXITSTATUS(status)),
            {}};
  return {static_cast<Status>(letter), text.substr(1), {}};
}

}  // namespace

TestVerdict run_in_child(const std::function<TestVerdict()>& test,
                         std::chrono::milliseconds timeout) {
  clear_notes();
  TestVerdict verdict = verdict_of_child(test, timeout);
  if (verdict.status == Status::kFailed || verdict.status == Status::kCrashed)
    verdict.call = last_call();
  return verdict;
}

}  // namespace sluice::host
