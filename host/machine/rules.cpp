#include "host/machine/rules.hpp"

#include <filesystem>
#include <utility>

#include "core/base/check.hpp"
#include "host/plugins/plugin_file.hpp"

namespace sluice::host {
namespace {

/// A folder that somebody named has to be there: without it all plugins in it would be off, and
/// nothing would say so.
Result<void> check_directory(const PluginsConfig& config) {
  if (config.directory == PluginsConfig().directory) return {};
  const std::filesystem::path folder = plugin_directory(config.directory);
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return Error{"plugins.directory: found \"" + config.directory + "\", but there is no folder " +
               folder.string() + "; allowed: the folder of the libraries"};
}

}  // namespace

Result<std::unique_ptr<Rules>> Rules::load(const PluginsConfig& config,
                                           const std::optional<std::vector<std::string>>& names,
                                           const PluginClock& clock, LogSink log,
                                           const PluginDeaths* deaths) {
  if (!names)
    if (auto there = check_directory(config); !there) return there.error();
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
