// The time of day, for what records when something happened. Decisions take their time from the
// clock that they are given instead. Any thread.
#pragma once

#include <chrono>

#include "core/base/time.hpp"

namespace sluice::host {

inline Time wall_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace sluice::host
