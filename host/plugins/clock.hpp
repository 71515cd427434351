// PluginClock: the two clocks that the plugin host is given; it asks the machine for no time
// itself.
//
// now() is the one clock of decisions: virtual under simulation. steady() only measures how long
// calls into plugins take; under simulation a clock that stands still keeps a run independent of
// the machine's load. Both may be called from any thread.
#pragma once

#include "core/base/time.hpp"

namespace sluice::host {

class PluginClock {
 public:
  virtual ~PluginClock() = default;
  virtual Time now() const = 0;
  /// ns since some fixed moment, never going back.
  virtual Duration steady() const = 0;
  /// A simulation's: nothing outside the process is real.
  virtual bool is_virtual() const { return false; }
};

/// The machine's clocks. steady() is exact, so that what is told of a plugin's calls is true of few
/// calls, too; a reading costs some 50 ns more than one of a clock that ticks every 4 ms.
class SystemPluginClock final : public PluginClock {
 public:
  Time now() const override;
  Duration steady() const override;
};

/// A clock that goes where it is set. Calls into plugins take no time, so that a run does not
/// depend on how busy the machine is.
class VirtualClock final : public PluginClock {
 public:
  Time now() const override { return time_; }
  Duration steady() const override { return 0; }
  bool is_virtual() const override { return true; }
  void set(Time time) { time_ = time; }

 private:
  Time time_ = 0;
};

}  // namespace sluice::host
