#include "host/machine/rules.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace sluice::host {

Result<std::unique_ptr<Rules>> Rules::load(const PluginsConfig& config,
                                           const std::optional<std::vector<std::string>>& names,
                                           const PluginClock& clock, LogSink log,
                                           const PluginDeaths* deaths) {
  std::unique_ptr<Rules> rules(new Rules());
  auto plugins = PluginRuntime::load(config.directory, chosen_plugins(config, names), clock,
                                     rules->scheme, std::move(log), deaths);
  if (!plugins) return plugins.error();
  rules->plugins = std::move(*plugins);
  rules->intake = std::make_unique<Intake>(rules->scheme, rules->plugins.get());
  rules->hooks = rules->plugins->hooks();
  rules->checks = &rules->plugins->check_controllers();
  return rules;
}

std::unique_ptr<Rules> Rules::without_plugins(const PluginClock& clock) {
  auto rules = load(PluginsConfig(), std::vector<std::string>(), clock);
  SLUICE_CHECK(rules.ok(), "no plugins, and yet: ", rules.error().text);
  return std::move(*rules);
}

}  // namespace sluice::host
