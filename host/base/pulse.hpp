// Pulse: what a part of the host that should regularly come to rest is busy with, since when, and
// how long it may be.
//
// The part beats from its own thread; any thread may read at any time. It takes no lock.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "core/base/time.hpp"

namespace sluice::host {

/// After how long a part that does not come back is reported. The one place where these stand.
struct LivenessLimits {
  Duration look = 1 * kSecond;
  Duration told = 5 * kSecond;  ///< a line in the log, and in the verbose health
  Duration told_again = 60 * kSecond;
  Duration not_ready = 15 * kSecond;  ///< /readyz answers 503
  Duration not_alive = 60 * kSecond;  ///< /livez does, so that a supervisor restarts the host
};

/// A part that has been busy for long.
struct Busy {
  std::string part;    ///< `control`, `store` or `plugins`
  std::string what;    ///< a sentence without an end: `plugin X, flavor-filter.filter`
  std::string detail;  ///< the object concerned, not shown to all users; may be empty
  Duration took = 0;
};

class Pulse {
 public:
  /// `what` is a constant text.
  void beat(const char* what, Duration now) {
    what_.store(what, std::memory_order_relaxed);
    since_.store(now, std::memory_order_release);
  }
  void rest() { since_.store(kAtRest, std::memory_order_release); }

  /// nullopt: at rest, or not for longer than that.
  std::optional<Busy> busy(std::string part, Duration now, Duration longer_than) const {
    const Duration since = since_.load(std::memory_order_acquire);
    if (since == kAtRest || now - since <= longer_than) return std::nullopt;
    return Busy{std::move(part), what_.load(std::memory_order_relaxed), {}, now - since};
  }

 private:
  static constexpr Duration kAtRest = -1;
  std::atomic<const char*> what_{""};
  std::atomic<Duration> since_{kAtRest};
};

}  // namespace sluice::host
