// Rules: what objects may be: the kinds, the plugins that add to them and validate them, and the
// intake that every object passes. They are there before a store is read, because reading it needs
// them.
//
// Belongs to the kernel's thread; the scheme may be read from any thread once loaded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "core/hooks/hooks.hpp"
#include "host/config/config.hpp"
#include "host/kernel/plugin_runtime.hpp"
#include "host/objects/intake.hpp"
#include "host/objects/job_pages.hpp"
#include "host/plugins/clock.hpp"

namespace sluice::host {

class Rules {
 public:
  /// Loads and activates the plugins `names`, or those of the configuration; `clock` must outlive
  /// the rules. `log` and `deaths` as in PluginSetConfig.
  static Result<std::unique_ptr<Rules>> load(const PluginsConfig& config,
                                             const std::optional<std::vector<std::string>>& names,
                                             const PluginClock& clock, LogSink log = {},
                                             const PluginDeaths* deaths = nullptr);
  /// The same rules for a machine beside: further instances of the same plugins, on the same kinds,
  /// so that both may share objects. `log` and `quarantined` as in PluginSet::again(). Any thread,
  /// while `of` lives.
  static Result<std::unique_ptr<Rules>> beside(const Rules& of, const PluginClock& clock,
                                               LogSink log,
                                               const std::vector<std::string>& quarantined);
  /// Has the kinds served that these pages declare; pages() tells of those that cannot be. Before
  /// the first Machine, and before a store is read.
  void declare(JobPages pages);
  const JobPages& pages() const { return pages_; }
  /// Without any plugin. A test may set `hooks` and `checks` to its own before a Machine is made.
  static std::unique_ptr<Rules> without_plugins(const PluginClock& clock);

  const std::shared_ptr<api::Scheme> kinds;
  api::Scheme& scheme = *kinds;
  std::unique_ptr<PluginRuntime> plugins;  ///< never null once loaded
  std::unique_ptr<Intake> intake;
  hooks::HostHooks hooks;
  CheckControllers* checks = nullptr;

 private:
  JobPages pages_;
  explicit Rules(std::shared_ptr<api::Scheme> shared) : kinds(std::move(shared)) {}
  static std::unique_ptr<Rules> with(std::shared_ptr<api::Scheme> kinds,
                                     std::unique_ptr<PluginRuntime> plugins);
};

}  // namespace sluice::host
