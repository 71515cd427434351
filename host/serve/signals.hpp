// Signals: SIGTERM, SIGINT and SIGHUP, taken by a thread of their own, so that the host ends in
// time whatever its other threads are stuck in.
//
// After SIGTERM or SIGINT the host has a while for an orderly end. When it is over and the process
// is still there, the thread says what it waited for and ends the process: a write is acknowledged
// when it is on disk and not before, so nothing acknowledged is lost. Make it before any other
// thread, so that all of them have these signals blocked.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/time.hpp"

namespace sluice::host {

class Watchdog;

/// How long an orderly end may take; what systemd and Kubernetes wait for is longer.
inline constexpr Duration kOrderlyEnd = 9 * kSecond;
/// The part of it that requests under way have.
inline constexpr Duration kRequestsEnd = 4 * kSecond;

class Signals {
 public:
  Signals();
  /// The process goes on without them; one that came and was not taken is forgotten.
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The next one, SIGHUP or one that ends the process, or kOther. Waits for it. SIGHUPs that were
  /// not taken yet are one; one that ends the process goes before them. Main thread.
  int next();
  /// Has next() answer kOther, once for all calls until it does. Any thread.
  void call();
  static constexpr int kOther = 0;
  /// What knows which part the end waits for; must outlive this.
  void ask(const Watchdog& watchdog);

 private:
  void run();
  void take(int signal);
  [[noreturn]] void end_by_force();

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<int> waiting_;             // guarded by mutex_
  const Watchdog* watchdog_ = nullptr;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::host
