// Provisioner: runs the configured command for requests, a few at a time, on threads of its own.
//
// Per request (by UID) one run at a time. Results wait until they are taken; `on_result` is called,
// on a thread of the pool, whenever there is one. Threads are started with the first run and end
// with the object, which stops all programs. All members may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"

namespace provisioning {

struct Run {
  std::string uid, ns, name;  ///< of the request
  std::string input;
};

struct RunResult {
  Run run;
  CommandResult result;
};

class Provisioner {
 public:
  Provisioner(Command command, std::size_t concurrency, std::function<void()> on_result)
      : command_(std::move(command)), concurrency_(concurrency), on_result_(std::move(on_result)) {}
  ~Provisioner();
  Provisioner(const Provisioner&) = delete;
  Provisioner& operator=(const Provisioner&) = delete;

  const Command& command() const { return command_; }
  /// Nothing happens when a run for the UID waits, runs, or has a result that was not taken.
  void start(Run run);
  /// Stops the run, or takes it from the queue; there will be no result.
  void cancel(const std::string& uid);
  std::vector<RunResult> take_results();

 private:
  void work();

  const Command command_;
  const std::size_t concurrency_;
  const std::function<void()> on_result_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Run> waiting_;
  std::map<std::string, std::shared_ptr<Cancellation>> under_way_;  // by UID, waiting ones too
  std::vector<RunResult> results_;
  std::vector<std::thread> threads_;
  bool ending_ = false;
};

}  // namespace provisioning
