// Timers: what is due when, on one clock. A timer is never taken back: it names the epoch of its
// workload, and the caller that gets it compares that with the present one. Value type.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

enum class TimerKind : std::uint8_t { kBackoff, kPodsReady, kRecovery, kMaximumExecution };

struct Timer {
  Time at = 0;
  WorkloadId id = 0;
  std::uint32_t epoch = 0;
  TimerKind kind = TimerKind::kBackoff;
  bool operator>(const Timer& other) const {
    return std::tie(at, id, kind) > std::tie(other.at, other.id, other.kind);
  }
};

class Timers {
 public:
  /// One at kNever never fires.
  void push(const Timer& timer) {
    if (timer.at != kNever) heap_.push(timer);
  }
  /// kNever without one.
  Time next() const { return heap_.empty() ? kNever : heap_.top().at; }
  /// The earliest that is due; by id and kind among those of one time.
  std::optional<Timer> pop_due(Time now) {
    if (heap_.empty() || heap_.top().at > now) return std::nullopt;
    const Timer timer = heap_.top();
    heap_.pop();
    return timer;
  }

 private:
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> heap_;
};

}  // namespace sluice
