// Watchdog: says in the log who the host waits for, and answers the health paths about it.
//
// A call into a plugin, a turn of the control thread or a write to the disk that does not come back
// holds up what is behind it, and nothing can end it; whoever operates the host has to learn whose
// it is. Looks from a thread of its own, which lives as long as the object. busy() and watch() may
// be called from any thread.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "host/base/lookout.hpp"
#include "host/base/pulse.hpp"

namespace sluice::host {

class Watchdog {
 public:
  /// What is busy apart from plugins, for longer than a time.
  using Parts = std::function<std::vector<Busy>(Duration longer_than)>;

  explicit Watchdog(const LivenessLimits& limits = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Asked from now on; empty: only plugins are looked at. What it asks must live until then.
  void watch(Parts parts);

  const LivenessLimits& limits() const { return limits_; }
  /// Those that are told of, the longest first.
  std::vector<Busy> busy() const;

 private:
  void look();

  const LivenessLimits limits_;
  mutable std::mutex parts_mutex_;
  Parts parts_;                           // guarded by parts_mutex_
  std::map<std::string, Duration> told_;  // after how long each was told of; its thread's
  Lookout lookout_;
};

}  // namespace sluice::host
