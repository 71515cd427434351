// Lookout: looks at something again and again, on a thread of its own: after the pause that the
// last look answered, or when somebody asks for it.
//
//   Lookout lookout("webhook-keys", [this] { return look(); });
//   lookout.start();
//   lookout.look_now();
//
// No two looks at a time; once stop() came back there is none any more. start() and stop() are for
// one thread, look_now() may be called from any. Who owns one declares it last, so that what it
// looks at outlives it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/time.hpp"

namespace sluice::host {

class Lookout {
 public:
  /// Looks, and answers how long to wait until it looks again. [the lookout's thread]
  using Look = std::function<Duration()>;

  /// `name`: of the thread, 15 characters at most; of static storage.
  Lookout(const char* name, Look look) : name_(name), look_(std::move(look)) {}
  ~Lookout() { stop(); }
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;

  /// Looks for the first time after `first`.
  void start(Duration first = 0);
  /// Waits for the look that is under way. No-op when it was not started.
  void stop();
  void look_now();

 private:
  void run(Duration first);

  const char* const name_;
  const Look look_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  bool asked_ = false;     // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::host
