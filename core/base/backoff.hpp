// How long to wait before something that failed is tried again: longer each time, so that what is
// down is not kept down by those who ask. A pure function, any thread.
#pragma once

#include <algorithm>

#include "core/base/time.hpp"

namespace sluice {

/// `first` after the first failure, and twice as long after each further one; `longest` at most,
/// which is below half of kNever. `failures`: those before the present one.
constexpr Duration backoff(Duration first, int failures, Duration longest) {
  constexpr int kMostDoublings = 62;  // a Duration has no more
  Duration wait = first;
  for (int i = 0; i < std::min(failures, kMostDoublings) && wait < longest; ++i) wait *= 2;
  return std::min(wait, longest);
}

}  // namespace sluice
