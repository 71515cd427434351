// PodPace: how many pods may be made now, so that a job of many pods, or of large ones, neither
// keeps the writes of others waiting nor fills the store with pods that may never run.
//
// One instant makes at most kPerInstant pods of kInstantBytes in all, of all jobs together; the
// rest follows in the next ones. Of one job at most kMostGated pods wait behind a gate, and
// kMostUnplaced for a node, at a time: as soon as some go on, further ones are made. Those that it
// has hold at most kJobBytes: each look at a job reads all its pods. Belongs to the kernel's
// thread.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/base/time.hpp"

namespace sluice::host {

class PodPace {
 public:
  static constexpr std::size_t kPerInstant = 250;
  static constexpr std::size_t kInstantBytes = 4U << 20;
  static constexpr std::size_t kMostGated = 100;
  static constexpr std::size_t kMostUnplaced = 1000;
  static constexpr std::size_t kJobBytes = 64U << 20;
  /// When to go on after an instant that made all it may.
  static constexpr Duration kPause = kSecond / 1000;

  struct Wish {
    std::size_t pods = 0;
    bool gets_gate = false;    ///< they would wait behind one
    std::size_t gated = 0;     ///< of the job's pods, that do
    std::size_t unplaced = 0;  ///< of the others, that wait for a node
    std::size_t there = 0;     ///< of the job's pods, that have not ended
    std::size_t bytes = 0;     ///< of each: of its template
  };
  struct Allowed {
    std::size_t pods = 0;
    bool more_soon = false;  ///< the instant is full: look again after kPause
    bool too_large = false;  ///< those that are there hold all that a job's may
  };

  Allowed allow(const Wish& wish, Time now) {
    if (now != instant_) {
      instant_ = now;
      left_ = kPerInstant;
      left_bytes_ = kInstantBytes;
    }
    const std::size_t bytes = std::max<std::size_t>(wish.bytes, 1);
    std::size_t pods = std::min(wish.pods, wish.gets_gate ? rest(kMostGated, wish.gated)
                                                          : rest(kMostUnplaced, wish.unplaced));
    // One is made whatever its size.
    const std::size_t held = rest(std::max<std::size_t>(kJobBytes / bytes, 1), wish.there);
    const bool first = left_bytes_ == kInstantBytes;
    const std::size_t fit = std::max<std::size_t>(left_bytes_ / bytes, first ? 1 : 0);
    Allowed out;
    out.too_large = pods > held;
    pods = std::min(pods, held);
    out.pods = std::min({pods, left_, fit});
    out.more_soon = pods > out.pods;
    left_ -= out.pods;
    left_bytes_ -= std::min(left_bytes_, out.pods * bytes);
    return out;
  }

 private:
  static std::size_t rest(std::size_t most, std::size_t used) {
    return most - std::min(used, most);
  }

  Time instant_ = -1;
  std::size_t left_ = 0, left_bytes_ = 0;
};

}  // namespace sluice::host
