#include "host/serve/live_moment.hpp"

namespace sluice::host {

Result<ForkMoment> live_moment(Machine& machine, ControlLoop& control, const LiveStore& store) {
  ForkMoment out;
  const auto published = control.run_and_wait([&](ObjectAccess& objects) {
    out.now = objects.now();
    out.memory = machine.engine().memory();
    for (const PluginStatus& plugin : machine.rules().plugins->plugins().status())
      if (plugin.quarantined) out.quarantined.push_back(plugin.name);
  });
  if (!published) return published.error();
  out.version = store.version();
  out.uid = machine.ids().uid(out.now);
  return out;
}

}  // namespace sluice::host
