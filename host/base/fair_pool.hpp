// FairPool: a few threads for work that costs with the size of a request, beside those that must
// not wait for it.
//
// The users that ask take turns, a task each; tasks run at a low priority, so that large requests
// delay only each other. A task that throws is dropped, with a line in the log: a caller that waits
// for it has to notice that it is gone. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/base/fair_queue.hpp"

namespace sluice::host {

class FairPool {
 public:
  using Task = std::function<void()>;

  /// At most `waiting` tasks wait.
  FairPool(std::string name, std::size_t threads, std::size_t waiting);
  ~FairPool();  // as stop()

  /// False: too many wait, or it was stopped; the task is not run.
  bool post(const std::string& who, Task task);
  /// Runs what waits, then ends the threads.
  void stop();

 private:
  void run();

  const std::string name_;
  const std::size_t waiting_;
  std::mutex mutex_;
  std::condition_variable work_;
  FairQueue<Task> queue_;  // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sluice::host
