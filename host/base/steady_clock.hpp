// The clock that only goes forward, for what measures how long something takes or lasts. Decisions
// take their time from the clock that they are given instead. Any thread.
#pragma once

#include <chrono>

#include "core/base/time.hpp"

namespace sluice::host {

inline Duration steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace sluice::host
