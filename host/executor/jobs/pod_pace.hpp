// PodPace: how many pods may be made now, so that a job of many pods neither keeps the writes of
// others waiting nor fills the store with pods that may never run.
//
// One instant makes at most kPerInstant pods, of all jobs together; the rest follows in the next
// ones. Of one job at most kMostGated pods wait behind a gate at a time: as soon as some are let
// go, further ones are made. Belongs to the kernel's thread.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/base/time.hpp"

namespace sluice::host {

class PodPace {
 public:
  static constexpr std::size_t kPerInstant = 250;
  static constexpr std::size_t kMostGated = 100;
  /// When to go on after an instant that made all it may.
  static constexpr Duration kPause = kSecond / 1000;

  struct Allowed {
    std::size_t pods = 0;
    bool more_soon = false;  ///< the instant is full: look again after kPause
  };

  /// Of `wanted` pods of a job, `gated` of whose pods wait behind a gate; `gets_gate`: these would.
  Allowed allow(std::size_t wanted, bool gets_gate, std::size_t gated, Time now) {
    if (now != instant_) {
      instant_ = now;
      left_ = kPerInstant;
    }
    if (gets_gate) wanted = std::min(wanted, kMostGated - std::min(gated, kMostGated));
    const Allowed out{std::min(wanted, left_), wanted > left_};
    left_ -= out.pods;
    return out;
  }

 private:
  Time instant_ = -1;
  std::size_t left_ = 0;
};

}  // namespace sluice::host
