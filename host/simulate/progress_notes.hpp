// ProgressNotes: a line on standard error now and then while a simulation takes long, so that
// nobody waits for a program that says nothing. It looks from a thread of its own, which lives as
// long as the object; so it speaks too while one instant takes long. reached() and decided() are
// called by the simulation's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/time.hpp"

namespace sluice::host {

class ProgressNotes {
 public:
  using Say = std::function<void(const std::string& line)>;

  /// `say` is called from the thread of the notes, once each `every`.
  ProgressNotes(std::chrono::nanoseconds every, Say say);
  ~ProgressNotes();
  ProgressNotes(const ProgressNotes&) = delete;
  ProgressNotes& operator=(const ProgressNotes&) = delete;

  /// The instant at this offset has begun.
  void reached(Duration offset) { offset_.store(offset, std::memory_order_relaxed); }
  void decided() { decisions_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void run();

  const std::chrono::nanoseconds every_;
  const Say say_;
  std::atomic<Duration> offset_ = -1;  // none yet
  std::atomic<std::uint64_t> decisions_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::host
