// PluginRuntime: the plugins of a configuration, loaded and tied to a Scheme, an Intake and a
// Kernel.
//
// It is the kernel's PluginPort and the intake's WriteValidators. Belongs to the kernel's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "host/config/config.hpp"
#include "host/kernel/kernel.hpp"
#include "host/objects/intake.hpp"
#include "host/plugins/plugin_set.hpp"

namespace sluice::host {

/// What is loaded: `names` when given (with what the configuration says about each), else the
/// list of the configuration, else the plugins that belong to this build and are there as files.
std::vector<PluginConfig> chosen_plugins(const PluginsConfig& config,
                                         const std::optional<std::vector<std::string>>& names);

class PluginRuntime final : public PluginPort, public WriteValidators {
 public:
  /// Loads and activates; adds what the plugins contribute to `scheme`, which must outlive this.
  /// `log` and `deaths` as in PluginSetConfig.
  static Result<std::unique_ptr<PluginRuntime>> load(const std::string& directory,
                                                     std::vector<PluginConfig> plugins,
                                                     const PluginClock& clock, api::Scheme& scheme,
                                                     LogSink log = {},
                                                     const PluginDeaths* deaths = nullptr);

  /// Further instances of these plugins, for a machine on the same kinds; as PluginSet::again().
  Result<std::unique_ptr<PluginRuntime>> again(const PluginClock& clock, LogSink log,
                                               const std::vector<std::string>& quarantined) const;

  hooks::HostHooks hooks() { return set_->hooks(); }
  CheckControllers& check_controllers() { return set_->check_controllers(); }
  const PluginSet& plugins() const { return *set_; }
  PluginSet& plugins() { return *set_; }

  /// While held, timers wait: the kernel does not know yet what the store holds.
  void hold_timers(bool held) { timers_held_ = held; }

  void begin_instant(Time now) override {
    if (!timers_held_) set_->fire_timers(now);
  }
  void notify(const hooks::Notification& notification) override { set_->notify(notification); }
  void begin_anew() override { set_->begin_anew(); }
  bool take_restarted() override { return set_->take_restarted(); }
  void notify_again(const hooks::Notification& notification) override {
    set_->notify_again(notification);
  }
  bool listens(hooks::Event event, bool claimed) const override {
    return set_->listens(event, claimed);
  }
  std::string plugin_of_checks(std::string_view controller_name) const override {
    return set_->check_controllers().plugin_of(controller_name);
  }
  std::vector<EngineRequest> take_requests() override { return set_->take_requests(); }
  Time next_timer() const override { return set_->next_timer(); }

  bool wants(const api::KindInfo& kind) const override;
  void check(const api::KindInfo& kind, boost::json::object& object, const boost::json::object* old,
             const Validate& problems_of, std::vector<api::Problem>& problems,
             const Asking& asking) override;
  /// The same for an object of a kind that need not be known here.
  void check(std::string_view api_version, std::string_view kind, boost::json::object& object,
             const boost::json::object* old, const Validate& problems_of,
             std::vector<api::Problem>& problems, const Asking& asking);

 private:
  explicit PluginRuntime(std::unique_ptr<PluginSet> set) : set_(std::move(set)) {}
  /// `info`: what is known of the kind; null: nothing.
  void check_as(const api::KindInfo* info, std::string_view api_version, std::string_view kind,
                boost::json::object& object, const boost::json::object* old,
                const Validate& problems_of, std::vector<api::Problem>& problems,
                const Asking& asking);
  static Result<std::unique_ptr<PluginRuntime>> activated(std::unique_ptr<PluginSet> set);

  std::unique_ptr<PluginSet> set_;
  bool timers_held_ = false;
};

}  // namespace sluice::host
