// ProgressNotes: shows the progress of a simulation: a bar where standard error is a terminal,
// elsewhere a line now and then, so that a user sees that it works. It looks from a thread of its
// own, which lives as long as the object; so it reports also while one instant takes long.
// reached(), decided(), expect() and add() are called by the simulation's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/time.hpp"
#include "host/base/progress.hpp"

namespace sluice::host {

class ProgressNotes {
 public:
  using Say = std::function<void(const std::string& line)>;

  /// A bar on the terminal, or else a line to `say`, once each `every`.
  static ProgressOutput output(std::chrono::nanoseconds every, Say say);
  explicit ProgressNotes(ProgressOutput output);

  /// So many steps are to be taken: events of the input, and ends of workloads.
  void expect(std::uint64_t steps) { progress_.expect(steps); }
  void add() { progress_.add(); }
  /// The instant at this offset has begun.
  void reached(Duration offset) { offset_.store(offset, std::memory_order_relaxed); }
  void decided() { decisions_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::string detail() const;

  std::atomic<Duration> offset_ = -1;  // none yet
  std::atomic<std::uint64_t> decisions_ = 0;
  Progress progress_;  // last: its thread asks for the others
};

}  // namespace sluice::host
