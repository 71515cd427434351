// PluginPort: the plugins' part between two cycles, as the kernel asks for it; implemented by the
// plugin host. The kernel's thread only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/hooks/hooks.hpp"
#include "host/plugins/host_side.hpp"

namespace sluice::host {

class PluginPort {
 public:
  virtual ~PluginPort() = default;
  /// The clock of the instant that begins; timers that are due are delivered.
  virtual void begin_instant(Time now) = 0;
  /// Whether one of them wants to be told of such an event. `claimed`: by any plugin.
  virtual bool listens(hooks::Event event, bool claimed) const = 0;
  /// Told after the commit, in order.
  virtual void notify(const hooks::Notification& notification) = 0;
  /// The store was taken over: no plugin knows what was decided before. As if all were restarted.
  virtual void begin_anew() {}
  /// Whether plugins that want to be told were started again since the last call, and have
  /// forgotten what they were told; notify_again() tells those alone.
  virtual bool take_restarted() { return false; }
  virtual void notify_again(const hooks::Notification&) {}
  /// The plugin that answers for the AdmissionChecks of this controller; empty: none does.
  virtual std::string plugin_of_checks(std::string_view controller_name) const = 0;
  /// What plugins asked of the engine since the last call.
  virtual std::vector<EngineRequest> take_requests() = 0;
  /// When the next timer fires; kNever without one.
  virtual Time next_timer() const = 0;
};

}  // namespace sluice::host
