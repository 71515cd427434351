// PluginSet: the plugins of one host, loaded, bound to the engine's seams, watched.
//
// How a host uses it:
//
//   auto set = PluginSet::load(config);                       // files verified, instances created
//   for (auto& c : (*set)->schema_contributions()) scheme.add(c.json, c.plugin);
//   (*set)->activate();                                       // from now on hooks may be called
//   Engine engine(engine_config, (*set)->hooks());
//   … after each commit: (*set)->notify(n); after plugins ran: apply (*set)->take_requests();
//   … when next_timer() is due: fire_timers(now).
//
// hooks() may be called by the engine as hooks.hpp says; all other members by one thread at a time,
// never while a scheduling cycle runs. No lock is held while inside a plugin. Destroying the set
// deactivates and destroys the instances in reverse order; libraries stay mapped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/hooks/hooks.hpp"
#include "host/config/config.hpp"
#include "host/plugins/bridge_checks.hpp"
#include "host/plugins/bridge_controller.hpp"
#include "host/plugins/bridge_filter.hpp"
#include "host/plugins/bridge_jobs.hpp"
#include "host/plugins/bridge_order.hpp"
#include "host/plugins/bridge_search.hpp"
#include "host/plugins/bridge_traits.hpp"
#include "host/plugins/clock.hpp"
#include "host/plugins/health.hpp"
#include "host/plugins/loaded_plugin.hpp"
#include "host/plugins/metrics.hpp"
#include "host/plugins/notifier.hpp"
#include "host/plugins/plugin_deaths.hpp"
#include "host/plugins/validators.hpp"

namespace sluice::host {

struct PluginSetConfig {
  std::filesystem::path directory;     ///< see plugin_directory() in plugin_file.hpp
  std::vector<PluginConfig> plugins;   ///< in load order; those with enabled false are left out
  const PluginClock* clock = nullptr;  ///< required; outlives the set
  LogSink log;                         ///< empty: warnings and errors go to standard error
  FaultLimits limits;
  std::filesystem::path program = "/proc/self/exe";  ///< what runs libraries in other processes
  const PluginDeaths* deaths = nullptr;  ///< those it tells of start in quarantine; may be null
  std::function<void(std::string_view)> loading;  ///< told of each before it is; may be empty
};

/// What a plugin adds to kinds; `json` goes to api::Scheme::add.
struct SchemaContribution {
  std::string plugin;
  std::string json;
};

struct HookStatus {
  std::string_view hook;
  HookStats stats;
};

/// For metrics, `plugin list` and people.
struct PluginStatus {
  std::string name, version;
  std::vector<std::string_view> extensions, functions;
  bool quarantined = false;
  Duration longest_hold = 0;  ///< of the thread that calls it, at a time
  std::uint64_t faults = 0;
  std::string last_fault;
  std::vector<HookStatus> hooks;  ///< those that were called
};

class PluginSet {
 public:
  /// All or nothing: the error names the plugin, its file and the reason. Instances are created
  /// (and refuse a wrong configuration) but not active yet.
  static Result<std::unique_ptr<PluginSet>> load(const PluginSetConfig& config);
  /// Further instances of the libraries that are loaded here, with the same configuration: no file
  /// is read. `quarantined`: those, by name, that are called no more here. Any thread, while this
  /// set lives.
  Result<std::unique_ptr<PluginSet>> again(const PluginClock& clock, LogSink log,
                                           const std::vector<std::string>& quarantined) const;
  ~PluginSet();
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  /// In load order; what plugins contribute with schema/1.
  const std::vector<SchemaContribution>& schema_contributions() const { return contributions_; }

  /// Activates all, in load order; an error leaves the set fit for destruction only.
  Result<void> activate();

  /// REQUIRES: active. The bridges belong to the set; points that nobody provides are null.
  hooks::HostHooks hooks();

  /// The plugins that answer for AdmissionChecks; there may be none.
  CheckControllers& check_controllers() { return *checks_; }

  /// The plugins that keep objects in line, in load order.
  std::vector<ControllerBridge>& controllers() { return controllers_; }

  /// Turns off, the last first, those that are not among `staying`: the host goes on without them.
  /// What one fails to leave behind is logged.
  void turn_off(const std::vector<std::string>& staying);

  /// What plugins read and write objects through from now on; nullptr: they cannot.
  void connect(ObjectPort* port);
  /// What they reach objects of other places through; nullptr: they reach none.
  void connect_remotes(RemoteObjectsPort* remotes);

  /// Called, from any thread, when a plugin asked for something that a sleeping host would not
  /// notice. Empty: nobody is told. Waits for a call that is under way.
  void set_wake(const std::function<void()>& wake);

  /// How long a plugin with a process of its own may hold up the thread that asks it, at a time.
  /// What it does not answer by then ends within go_on(), and set_wake() tells when there is more;
  /// 0, as at first: it is waited for.
  void set_patience(Duration patience);
  /// Goes on with what plugins were asked; whether anything ended.
  bool go_on();

  const Validators& validators() const { return validators_; }

  /// Tells all plugins that want to know.
  void notify(const hooks::Notification& notification) { notifier_->notify(notification); }
  /// See Notifier.
  void begin_anew() { notifier_->begin_anew(); }
  bool take_restarted() { return notifier_->take_restarted(); }
  void notify_again(const hooks::Notification& notification) {
    notifier_->notify_again(notification);
  }
  bool listens(hooks::Event event, bool claimed) const {
    return notifier_->listens(event, claimed);
  }
  std::uint64_t lost_notifications() const { return notifier_->lost(); }

  /// The next moment at which fire_timers() has something to do; kNever without one.
  Time next_timer() const;
  /// Fires the plugins' timers that are due, in load order, and retries notifications.
  void fire_timers(Time now);

  /// What plugins asked of the engine since the last call: in load order, each in its own order.
  std::vector<EngineRequest> take_requests();
  /// Events that plugins emitted since the last call.
  std::vector<PluginEvent> take_events();

  std::vector<PluginStatus> status() const;
  /// What their libraries declare that they may do to objects.
  std::vector<ObjectRight> rights() const;
  const MetricsRegistry& metrics() const { return metrics_; }

  /// Ends the quarantine of a plugin; false when there is no plugin of that name.
  bool reset_quarantine(std::string_view name);

 private:
  PluginSet() = default;
  /// What an instance is made of.
  struct Source {
    PluginConfig config;
    const sluice_plugin_t* root;
    std::shared_ptr<const ProcessRoot> process;  ///< the root, where it has a process of its own
    Declarations declared;                       ///< by its library; a command may do everything
  };
  Result<Source> open(const PluginConfig& plugin, const PluginSetConfig& config,
                      std::string& sha256) const;
  Result<void> load_one(const PluginConfig& plugin, const PluginSetConfig& config);
  Result<void> create(Source source, const FaultLimits& limits);
  Result<void> collect_contributions();
  Result<void> bind(const PluginSetConfig& config);
  Result<void> bind_order();

  MetricsRegistry metrics_;
  std::vector<Source> sources_;  // in load order; fixed once loaded
  FaultLimits limits_;
  std::vector<std::unique_ptr<LoadedPlugin>> plugins_;
  std::vector<SchemaContribution> contributions_;
  Validators validators_;
  std::unique_ptr<WatchBridge> watch_;
  std::unique_ptr<SearchBridge> search_;
  std::unique_ptr<FilterBridge> filter_;
  std::unique_ptr<VetoBridge> veto_;
  std::unique_ptr<OrderBridge> order_;
  std::unique_ptr<TraitsBridge> traits_;
  std::unique_ptr<MappingBridge> mapping_;
  std::unique_ptr<PodGateBridge> pod_gate_;
  std::unique_ptr<CheckBridge> checks_;
  std::vector<ControllerBridge> controllers_;
  std::unique_ptr<Notifier> notifier_;
  HostServices services_;
  std::vector<std::string> in_quarantine_;  // by plugin: why, from the start; empty: it is not
  bool active_ = false;
};

}  // namespace sluice::host
