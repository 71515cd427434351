// HostInstance: everything of a running host that a configuration decides about: a Machine with the
// edges of a host: a durable store, the control thread, the executor, what the API server serves.
//
// The process outlives it: on a reload a new HostInstance is made from the new configuration
// (make(), which can fail and changes nothing), the old one is stopped, and the new one opens the
// store. Clients keep their connections; they belong to the process.
//
//   auto instance = HostInstance::make(config, clock);     // plugins are loaded and active
//   (*instance)->open(std::move(journal));          // state is loaded; writes are taken from now
//   on …
//   (*instance)->stop();                            // everything acknowledged is durable
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "host/access/aggregated_roles.hpp"
#include "host/access/host_authenticator.hpp"
#include "host/access/rbac_authorizer.hpp"
#include "host/apiserver/backend.hpp"
#include "host/config/config.hpp"
#include "host/controllers/garbage.hpp"
#include "host/executor/setup.hpp"
#include "host/explain/insight.hpp"
#include "host/history/history.hpp"
#include "host/machine/machine.hpp"
#include "host/metrics/decision_metrics.hpp"
#include "host/metrics/metric_upkeep.hpp"
#include "host/metrics/metrics.hpp"
#include "host/plugins/clock.hpp"
#include "host/remotes/remote_hub.hpp"
#include "host/serve/control_loop.hpp"
#include "host/store/live_store.hpp"
#include "host/whatif/what_if.hpp"
#include "host/writes/ids.hpp"
#include "host/writes/space_guard.hpp"

namespace sluice::host {

/// Those that the configuration lists, or `names`, tried in a process of their own first and
/// logged; those with one of the `deaths` are quarantined.
Result<std::unique_ptr<Rules>> load_host_rules(const Configuration& config,
                                               const std::optional<std::vector<std::string>>& names,
                                               const PluginClock& clock,
                                               const PluginDeaths& deaths);

/// The kinds that objects JobKind of its store declare. A HostInstance serves those that it was
/// made with.
struct Declared {
  JobPages pages;
  std::function<void()> others;  ///< the store holds other ones now: another HostInstance is wanted
};

class HostInstance {
 public:
  /// `metrics` must outlive it, as the clock. The plugins are tried in a process of their own
  /// first; those that `deaths` tells of start in quarantine.
  static Result<std::unique_ptr<HostInstance>> make(const Configuration& config,
                                                    const PluginClock& clock, HostMetrics& metrics,
                                                    const PluginDeaths& deaths, Declared declared);
  ~HostInstance();

  /// `journal` nullptr: memory only. Takes over what it holds, makes what every host has, and
  /// starts.
  Result<void> open(std::unique_ptr<Journal> journal);
  void stop();
  /// The same at the end of the process: all threads, files and plugins are released; the memory of
  /// a large store is not, object by object, because the system takes it back at once. `stopped` is
  /// called when its threads have ended.
  static void abandon(std::unique_ptr<HostInstance> instance, const std::function<void()>& stopped);
  /// As stop(), when another HostInstance follows in this process, with these plugins: what runs
  /// goes on, and plugins that are not among them leave behind what they want.
  void hand_over(const std::vector<std::string>& plugins);

  const api::Scheme& scheme() const { return rules_->scheme; }
  LiveStore& store() { return *store_; }
  /// What the store holds of them by now.
  JobPages published_pages() const;
  const JobPages& pages() const { return rules_->pages(); }
  ControlLoop& control() { return *control_; }
  const RbacAuthorizer& authorizer() const { return *authorizer_; }
  /// The gauges of this moment. [kernel's thread]
  std::vector<Reading> readings(const ObjectAccess& objects) const;
  /// What the API server serves. Lives as long as the HostInstance.
  ApiBackend backend(const HostAuthenticator& authenticator);

 private:
  HostInstance(const Configuration& config, const PluginClock& clock, HostMetrics& metrics)
      : config_(config), clock_(clock), metrics_(metrics) {}
  void build();
  void build_what_if();
  std::optional<ApiError> exceeds_rights(const Identity& who, const api::KindInfo& kind,
                                         const boost::json::object* before,
                                         const boost::json::object& after) const;
  bool makes_pods() const { return config_.executor.type == ExecutorType::kLocal; }
  PluginSet& plugins() const { return rules_->plugins->plugins(); }
  void log_loaded(Duration took) const;
  Result<void> make_first_objects();
  Result<void> start_executor();

  Configuration config_;
  const PluginClock& clock_;
  HostMetrics& metrics_;
  std::function<void()> other_pages_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<LiveStore> store_;
  LiveIds ids_;
  std::unique_ptr<RemoteHub> remotes_;
  std::unique_ptr<ExecutorSetup> executor_;
  std::unique_ptr<MetricUpkeep> metric_upkeep_;
  std::unique_ptr<AggregatedRoles> aggregated_roles_;
  std::unique_ptr<GarbageController> garbage_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<DecisionMetrics> decision_metrics_;
  std::unique_ptr<ControlLoop> control_;
  std::unique_ptr<LiveInsight> insight_;
  std::unique_ptr<RbacAuthorizer> authorizer_;
  std::unique_ptr<SpaceGuard> space_;
  std::unique_ptr<HostWhatIf> what_if_;
  std::unique_ptr<HostHistory> history_;  // null: it is off
};

}  // namespace sluice::host
