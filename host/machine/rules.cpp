#include "host/machine/rules.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace sluice::host {
Result<std::unique_ptr<Rules>> Rules::load(const PluginsConfig& config,
                                           const std::optional<std::vector<std::string>>& names,
                                           const PluginClock& clock, LogSink log,
                                           const PluginDeaths* deaths) {
  auto kinds = std::make_shared<api::Scheme>();
  auto plugins = PluginRuntime::load(config.directory, chosen_plugins(config, names), clock, *kinds,
                                     std::move(log), deaths);
  if (!plugins) return plugins.error();
  return with(std::move(kinds), std::move(*plugins));
}

Result<std::unique_ptr<Rules>> Rules::beside(const Rules& of, const PluginClock& clock, LogSink log,
                                             const std::vector<std::string>& quarantined) {
  auto plugins = of.plugins->again(clock, std::move(log), quarantined);
  if (!plugins) return plugins.error();
  auto rules = with(of.kinds, std::move(*plugins));
  rules->pages_ = of.pages_;
  return rules;
}

std::unique_ptr<Rules> Rules::with(std::shared_ptr<api::Scheme> kinds,
                                   std::unique_ptr<PluginRuntime> plugins) {
  std::unique_ptr<Rules> rules(new Rules(std::move(kinds)));
  rules->plugins = std::move(plugins);
  rules->intake = std::make_unique<Intake>(rules->scheme, rules->plugins.get());
  rules->hooks = rules->plugins->hooks();
  rules->checks = &rules->plugins->check_controllers();
  return rules;
}

void Rules::declare(JobPages pages) {
  pages_ = std::move(pages);
  declare_kinds(scheme, pages_);
}

std::unique_ptr<Rules> Rules::without_plugins(const PluginClock& clock) {
  auto rules = load(PluginsConfig(), std::vector<std::string>(), clock);
  SLUICE_CHECK(rules.ok(), "no plugins, and yet: ", rules.error().text);
  return std::move(*rules);
}

}  // namespace sluice::host
