#include "host/serve/live_readings.hpp"

#include <utility>

#include "host/metrics/readings.hpp"

namespace sluice::host {
namespace {

Reading drafts_reading(const DraftCounts& drafts) {
  Reading out{
      "sluice_write_drafts_total", "Writes worked out beforehand, by what came of it", true, {}};
  for (const auto& [result, number] :
       {std::pair{"taken", drafts.taken}, {"anew", drafts.anew}, {"sent_back", drafts.sent_back}})
    out.samples.push_back({{{"result", result}}, static_cast<double>(number)});
  return out;
}

Reading objects_reading(const api::Scheme& scheme, const LiveStore& store) {
  Reading out{"sluice_store_objects", "Objects, by kind", false, {}};
  for (const api::KindInfo* kind : scheme.kinds()) {
    const std::size_t number = store.published_count(*kind);
    if (number == 0) continue;
    out.samples.push_back(
        {{{"group", kind->group}, {"resource", kind->plural}}, static_cast<double>(number)});
  }
  return out;
}

}  // namespace

std::vector<Reading> live_readings(const LiveParts& parts, const ObjectAccess& objects) {
  const Engine& engine = parts.machine.engine();
  std::vector<Reading> out = queue_readings(engine, objects, parts.fair_sharing);
  out.push_back(skips_reading(parts.decisions.preemption_skips()));
  const PluginSet& plugins = parts.machine.rules().plugins->plugins();
  for (Reading& each : plugin_readings(plugins.status(), plugins.metrics().snapshot()))
    out.push_back(std::move(each));
  out.push_back(reading("sluice_plugin_lost_notifications_total",
                        "Notifications that a plugin never took",
                        static_cast<double>(plugins.lost_notifications()), true));
  out.push_back(reading("sluice_scheduling_cycles_total", "Scheduling cycles",
                        static_cast<double>(engine.stats().cycles), true));
  out.push_back(reading("sluice_control_turns_total", "Turns of the thread that writes",
                        static_cast<double>(parts.control.turns()), true));
  out.push_back(drafts_reading(parts.control.drafts()));
  out.push_back(reading("sluice_store_version", "resourceVersion of the last published change",
                        static_cast<double>(parts.store.version())));
  out.push_back(objects_reading(parts.machine.scheme(), parts.store));
  return out;
}

}  // namespace sluice::host
