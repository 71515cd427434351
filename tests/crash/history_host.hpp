// HistoryHost: a host that many clients use while it is killed and started again, and how far they
// are.
//
// start() and crash() belong to one thread, everything else to any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/host_process.hpp"

namespace sluice::host::test {

/// Nanoseconds of the clock that histories use.
std::int64_t now();

class HistoryHost {
 public:
  /// From one start to the end of the process.
  struct Run {
    std::size_t number = 0;
    std::uint16_t port = 0;
    std::string token;
  };

  /// `folder`: for the store, of which nothing is kept.
  explicit HistoryHost(const std::string& folder);

  Result<void> start();
  /// kill -9 by the client that makes the step of this number, at once: right after an answer, or
  /// before a call; or when of `clients` none is left.
  void crash(std::uint64_t step, std::size_t clients);
  /// The end of what the host logged.
  std::string log() const { return process_.log(); }

  /// The host as it is up; waits while it is between two runs. Nothing when it will not come back.
  std::optional<Run> run();
  /// When a run was gone; waits while it is being killed. Nothing when nobody kills it.
  std::optional<std::int64_t> end_of(std::size_t run);

  /// A client has sent something, or got an answer.
  void step();
  /// A client will not step() any more.
  void leave();

 private:
  void kill_at_step();

  HostProcess process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Run run_;
  bool up_ = false, failed_ = false, dying_ = false;
  std::vector<std::int64_t> ends_;  // by run
  std::uint64_t steps_ = 0;
  std::optional<std::uint64_t> last_step_;  // of this run
  std::size_t left_ = 0;
};

}  // namespace sluice::host::test
