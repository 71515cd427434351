// Running one program to its end: input on standard input, bounded output, a time limit, an end on
// request. The program gets a process group of its own, and nothing of the group outlives the call.
//
// run_command() blocks; Cancellation::cancel() may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace provisioning {

struct Command {
  std::vector<std::string> argv;  ///< the program (looked for in PATH) and its arguments
  std::vector<std::pair<std::string, std::string>> env;  ///< in addition to the host's own
  std::int64_t timeout_seconds = 3600;
};

class Cancellation {
 public:
  Cancellation();
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  void cancel();
  bool cancelled() const { return cancelled_; }
  int fd() const { return fd_; }  ///< readable once cancelled

 private:
  std::atomic<bool> cancelled_{false};
  int fd_;
};

struct CommandResult {
  enum class End : std::uint8_t { kExited, kSignalled, kTimedOut, kCancelled, kNotStarted };
  End end = End::kNotStarted;
  int status = 0;      ///< exit code, or the signal, or errno
  std::string output;  ///< the first MiB
  std::string errors;  ///< the first 64 KiB
};

CommandResult run_command(const Command& command, const std::string& input,
                          const Cancellation& cancellation);

/// One sentence for what went wrong; empty when it exited with 0.
std::string failure_of(const Command& command, const CommandResult& result);

}  // namespace provisioning
