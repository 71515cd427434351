// TokenBucket: how much of a rate is left: tokens that come in evenly, up to a most, and one is
// taken for each thing that is done.
//
// A value; one thread. Rate and most are given with each question, so that thousands of buckets of
// one rate do not keep it. Times are of a clock that only goes forward.
#pragma once

#include <algorithm>

#include "core/base/time.hpp"

namespace sluice::host {

struct TokenBucket {
  double tokens = 0;
  Time filled = 0;  ///< when that many were there

  void fill(Time now, double most, double per_second) {
    const double seconds = static_cast<double>(now - filled) / static_cast<double>(kSecond);
    tokens = std::min(most, tokens + seconds * per_second);
    filled = now;
  }
  /// Whether there was one, which is taken.
  bool take(Time now, double most, double per_second) {
    fill(now, most, per_second);
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  }
};

}  // namespace sluice::host
