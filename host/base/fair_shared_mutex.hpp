// FairSharedMutex: many readers or one writer, and readers that keep coming cannot hold the writer
// off for ever, as they can with std::shared_mutex on Linux.
//
// Meets the SharedMutex requirements as far as std::unique_lock and std::shared_lock use them. Not
// recursive, neither for readers nor for writers.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace sluice::host {

class FairSharedMutex {
 public:
  // A writer keeps the gate closed while it waits for the readers that are inside, and works.
  void lock() {
    gate_.lock();
    inside_.lock();
  }
  void unlock() {
    inside_.unlock();
    gate_.unlock();
  }
  void lock_shared() {
    const std::lock_guard<std::mutex> pass(gate_);
    inside_.lock_shared();
  }
  void unlock_shared() { inside_.unlock_shared(); }

 private:
  std::mutex gate_;
  std::shared_mutex inside_;
};

}  // namespace sluice::host
