// Health: what one plugin's calls cost and how often they failed; takes a plugin out of service
// when it fails too often.
//
// count() and quarantined() are on the path of every hook call: no lock, no shared cache line
// between threads that count. record_fault() takes a lock, but never while inside the plugin.
// All members may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <string>

#include "core/base/time.hpp"
#include "host/plugins/hook.hpp"

namespace sluice::host {

/// When a call is too long, and when a plugin has failed too often.
///
/// The budgets are wall time: on a machine with more threads than cores a call of microseconds may
/// well be away for tens of milliseconds, so they must be far above what a hook needs.
struct FaultLimits {
  Duration cycle_budget = 100 * kMillisecond;  ///< warn beyond it
  Duration control_budget = 1 * kSecond;       ///< warn beyond it
  int fault_factor = 10;                       ///< a fault beyond the budget times this
  int quarantine_faults = 5;                   ///< N faults …
  Duration quarantine_window = 60 * kSecond;   ///< … within T quarantine the plugin
  int notify_attempts = 5;                     ///< of one notification, then it is given up
  Duration notify_pause = 100 * kMillisecond;  ///< before the second attempt; doubles each time
};

struct HookStats {
  std::uint64_t calls = 0;
  std::uint64_t faults = 0;
  Duration time = 0;
};

class Health {
 public:
  explicit Health(const FaultLimits& limits) : limits_(limits) {
    for (auto& next : next_warning_) next = std::numeric_limits<Time>::min();
  }

  bool quarantined() const { return quarantined_.load(std::memory_order_relaxed); }

  void count(Hook hook, Duration time) {
    Cell& cell = stripes_[stripe()].cells[static_cast<std::size_t>(hook)];
    cell.calls.fetch_add(1, std::memory_order_relaxed);
    if (time != 0) cell.time.fetch_add(time, std::memory_order_relaxed);
  }

  /// Time of a call that has not ended.
  void spend(Hook hook, Duration time) {
    stripes_[stripe()].cells[static_cast<std::size_t>(hook)].time.fetch_add(
        time, std::memory_order_relaxed);
  }

  /// It held up the thread that everybody's writes go through.
  void hold(Duration time) {
    if (time > longest_hold_.load(std::memory_order_relaxed)) longest_hold_ = time;
  }
  Duration longest_hold() const { return longest_hold_; }

  /// True when a warning about this hook is due: at most one in a minute.
  bool may_warn(Hook hook, Time now);

  /// True when this fault put the plugin into quarantine. Those of a hook about the same object
  /// (`about`, namespace/name; empty: about none) count as one there: one workload that a plugin
  /// cannot cope with stops it for nobody else.
  bool record_fault(Hook hook, Time now, const std::string& text, const std::string& about = {});

  /// A fault that is none of the plugin's answers: its process was gone. It counts, and that is
  /// all.
  void note_loss(Hook hook, const std::string& text);

  /// From now on, whatever it does. REQUIRES: no call is under way.
  void quarantine(const std::string& why);
  /// Why it was from the start; empty: for faults, or not at all.
  std::string quarantined_because() const;

  /// Ends a quarantine and forgets the faults that led to it; counters go on.
  void reset();

  HookStats stats(Hook hook) const;
  std::uint64_t faults() const;
  std::string last_fault() const;

 private:
  static constexpr std::size_t kStripes = 16;
  struct Cell {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<Duration> time{0};
  };
  struct alignas(64) Stripe {
    std::array<Cell, kHookCount> cells;
  };

  static std::size_t stripe();

  FaultLimits limits_;
  std::atomic<bool> quarantined_{false};
  std::atomic<Duration> longest_hold_{0};
  std::array<Stripe, kStripes> stripes_;
  std::array<std::atomic<std::uint64_t>, kHookCount> faults_{};
  std::array<std::atomic<Time>, kHookCount> next_warning_;
  mutable std::mutex mutex_;
  struct Recent {
    Time at;
    Hook hook;
    std::string about;
  };
  std::deque<Recent> recent_;  // guarded by mutex_, oldest first
  std::string last_fault_;     // guarded by mutex_
  std::string because_;        // guarded by mutex_
};

}  // namespace sluice::host
