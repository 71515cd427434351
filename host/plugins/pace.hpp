// Pace: how much of the host's one deciding thread a plugin may take.
//
// After a burst a plugin gets half of the time: a call that took so long is followed by a pause of
// the same length, in which others have their turn. What it is asked in the meantime waits, in
// order. A clock that stands still (a simulation's) never makes anybody wait. Belongs to the
// kernel's thread.
#pragma once

#include <algorithm>
#include <limits>

#include "core/base/time.hpp"

namespace sluice::host {

/// How long a process that has not answered may hold up a host that serves others.
inline constexpr Duration kPluginPatience = 5 * kMillisecond;

class Pace {
 public:
  static constexpr Duration kBurst = 25 * kMillisecond;
  static constexpr Duration kShare = 2;  ///< one part in so many is the plugin's

  /// A call went from `began` to `ended`, by the steady clock.
  void spent(Duration began, Duration ended) {
    free_at_ = std::max(free_at_, began - kBurst) + kShare * (ended - began);
  }
  /// How long the next call has to wait; 0: it need not.
  Duration pause(Duration now) const { return std::max<Duration>(0, free_at_ - now); }

 private:
  Duration free_at_ = std::numeric_limits<Duration>::min() / 2;
};

}  // namespace sluice::host
