// OnwardClock: the time of a host, which neither goes back nor stands still.
//
// The machine's clock is set by people and programs. Forwards it is followed at once. When it was
// set back, the time goes on from where it was, a tenth slower than it passes, until the machine's
// clock has caught up: timers fire somewhat late, and none is lost. Invariant: now() is never below
// what it said before, nor below the machine's clock. Any thread.
#pragma once

#include <mutex>

#include "host/plugins/clock.hpp"

namespace sluice::host {

class OnwardClock final : public PluginClock {
 public:
  /// `machine` must outlive it.
  explicit OnwardClock(const PluginClock& machine)
      : machine_(machine), last_(machine.now()), read_at_(machine.steady()) {}

  Time now() const override;
  Duration steady() const override { return machine_.steady(); }
  bool is_virtual() const override { return machine_.is_virtual(); }

 private:
  const PluginClock& machine_;
  mutable std::mutex mutex_;
  mutable Time last_;         // guarded by mutex_
  mutable Duration read_at_;  // guarded by mutex_
};

}  // namespace sluice::host
