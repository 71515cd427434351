#include "host/serve/host_instance.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/access/bootstrap.hpp"
#include "host/access/grants.hpp"
#include "host/access/priorities.hpp"
#include "host/base/files.hpp"
#include "host/base/log.hpp"
#include "host/metrics/readings.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/trial.hpp"
#include "host/serve/live_moment.hpp"
#include "host/serve/live_readings.hpp"
#include "host/serve/remote_readings.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kKeysPerRun = 128;
constexpr Duration kLongestRun = 4 * kMillisecond;
// Namespaces that every host has, as clients of Kubernetes expect.
constexpr std::string_view kNamespaces[] = {"default", "kube-system"};

void log_plugin(int level, std::string_view plugin, std::string_view text) {
  log(static_cast<LogLevel>(std::clamp(level, 0, 3)), fmt::format("plugin {}", plugin), text);
}

}  // namespace

Result<std::unique_ptr<Rules>> load_host_rules(const Configuration& config,
                                               const std::optional<std::vector<std::string>>& names,
                                               const PluginClock& clock,
                                               const PluginDeaths& deaths) {
  const auto chosen = chosen_plugins(config.plugins, names);
  if (auto tried = try_plugins(plugin_directory(config.plugins.directory), chosen); !tried)
    return tried.error();
  auto rules = Rules::load(config.plugins, names, clock, log_plugin, &deaths);
  if (!rules) return rules.error();
  for (const PluginStatus& plugin : (*rules)->plugins->plugins().status())
    log(LogLevel::kInfo, "plugin " + plugin.name, plugin.quarantined ? "quarantined" : "active",
        {{"version", plugin.version},
         {"extensions", fmt::format("{}", fmt::join(plugin.extensions, ","))}});
  return rules;
}

Result<std::unique_ptr<HostInstance>> HostInstance::make(const Configuration& config,
                                                         const PluginClock& clock,
                                                         HostMetrics& metrics,
                                                         const PluginDeaths& deaths,
                                                         Declared declared) {
  std::unique_ptr<HostInstance> instance(new HostInstance(config, clock, metrics));
  auto rules = load_host_rules(config, std::nullopt, clock, deaths);
  if (!rules) return rules.error();
  instance->rules_ = std::move(*rules);
  instance->other_pages_ = std::move(declared.others);
  instance->rules_->declare(std::move(declared.pages));
  for (const auto& [name, page] : instance->rules_->pages())
    if (!page.problem.empty())
      log(LogLevel::kWarning, "job kinds", "JobKind " + name + " is not served: " + page.problem);
  return instance;
}

HostInstance::~HostInstance() { stop(); }

JobPages HostInstance::published_pages() const {
  std::vector<json::object> found;
  const auto listed = store_->read(*rules_->scheme.find(kJobKindVersion, "JobKind"), {});
  if (!listed) return rules_->pages();
  for (const RecordPtr& each : listed->objects) found.push_back(to_object(*each));
  return pages_of(found);
}

Result<void> HostInstance::open(std::unique_ptr<Journal> journal) {
  const Duration began = clock_.steady();
  WorkloadReader reader(*rules_->intake);
  store_ =
      std::make_unique<LiveStore>(rules_->scheme, std::move(journal), HistoryLimits(), &reader);
  if (const std::string failure = store_->failure(); !failure.empty()) return Error{failure};
  build();
  machine_->begin_instant(clock_.now());
  machine_->load(&reader);
  log_loaded(clock_.steady() - began);
  control_->start();
  remotes_->start();
  what_if_->start();
  if (auto made = make_first_objects(); !made) return made;
  if (history_) history_->start();
  return start_executor();
}

void HostInstance::log_loaded(Duration took) const {
  std::size_t objects = 0;
  std::size_t kinds = 0;
  for (const api::KindInfo* kind : rules_->scheme.kinds()) {
    objects += store_->published_count(*kind);
    ++kinds;
  }
  log(LogLevel::kInfo, "store", "loaded",
      {{"path", config_.store.path},
       {"objects", std::to_string(objects)},
       {"kinds", std::to_string(kinds)},
       {"version", std::to_string(store_->version())},
       {"workloads", std::to_string(store_->count(api::kueue_kind(rules_->scheme, "Workload")))},
       {"took_ms", std::to_string(took / kMillisecond)}});
}

Result<void> HostInstance::start_executor() {
  const bool in_memory = config_.store.path == "memory";
  std::filesystem::path folder = std::filesystem::path(config_.store.path) / "executor";
  if (in_memory) {
    const auto temporary = temporary_folder();
    if (!temporary) return temporary.error();
    folder = *temporary / fmt::format("sluice-{}", getpid());
  }
  auto started = executor_->start(folder, in_memory, *store_, rules_->scheme, *control_);
  return started ? started : started.error().context("executor");
}

void HostInstance::build() {
  const AddPods pods = [this](ControllerLoop& loop, const GatesOfNewPods& gates) {
    executor_ = std::make_unique<ExecutorSetup>(config_.executor, rules_->scheme, gates);
    executor_->add_controllers(loop);
  };
  machine_ = std::make_unique<Machine>(config_, *rules_,
                                       MachineEdges{.store = *store_,
                                                    .ids = ids_,
                                                    .pods = pods,
                                                    .makes_pods = makes_pods(),
                                                    .jobs_end_later = makes_pods(),
                                                    .other_pages = other_pages_});
  machine_->controllers().limit_run(kKeysPerRun, kLongestRun, clock_);
  decision_metrics_ = std::make_unique<DecisionMetrics>(
      machine_->engine(), machine_->kernel().intake().priority_classes(), metrics_);
  machine_->observe(*decision_metrics_);
  metric_upkeep_ =
      std::make_unique<MetricUpkeep>(rules_->scheme, machine_->engine(), *decision_metrics_);
  machine_->controllers().add(*metric_upkeep_);
  aggregated_roles_ = std::make_unique<AggregatedRoles>(rules_->scheme);
  machine_->controllers().add(*aggregated_roles_);
  garbage_ = std::make_unique<GarbageController>(rules_->scheme, machine_->store());
  machine_->controllers().add(*garbage_);
  control_ = std::make_unique<ControlLoop>(*machine_, *store_, clock_);
  remotes_ = std::make_unique<RemoteHub>(rules_->scheme, clock_, [this] { control_->wake(); });
  control_->let_out({[this] { return remotes_->seal(); },
                     [this](std::uint64_t turn) { remotes_->release(turn); }});
  plugins().connect_remotes(remotes_.get());
  insight_ = std::make_unique<LiveInsight>(machine_->engine(), *control_, rules_->checks);
  authorizer_ = std::make_unique<RbacAuthorizer>(rules_->scheme, *store_);
  space_ = std::make_unique<SpaceGuard>(*store_, config_.store.limits);
  machine_->set_guard([this](const Identity& who, const api::KindInfo& kind,
                             const json::object* before, const json::object& after) {
    auto refused = exceeds_rights(who, kind, before, after);
    return refused ? refused : space_->refuses(kind, after);
  });
  plugins().set_wake([this] { control_->wake(); });
  plugins().set_patience(kPluginPatience);
  build_what_if();
  if (!config_.history.enabled) return;
  const std::string folder = config_.store.path == "memory" ? "" : config_.store.path;
  history_ = std::make_unique<HostHistory>(config_.history, folder, *store_, rules_->scheme,
                                           [this] { return clock_.now(); });
}

/// What nobody may write with the right to write objects of the kind alone. [any thread]
std::optional<ApiError> HostInstance::exceeds_rights(const Identity& who, const api::KindInfo& kind,
                                                     const json::object* before,
                                                     const json::object& after) const {
  const std::shared_ptr<const RbacIndex> index = authorizer_->index();
  if (auto refused = refuses_grant(*index, who, kind, after)) return refused;
  return refuses_priority(*index, machine_->kernel().intake().priority_classes(), who, kind, before,
                          after);
}

void HostInstance::build_what_if() {
  // Room in the store is looked after where something is kept.
  WriteGuard guard = [this](const Identity& who, const api::KindInfo& kind,
                            const json::object* before, const json::object& after) {
    return exceeds_rights(who, kind, before, after);
  };
  what_if_ = std::make_unique<HostWhatIf>(
      ForkSource{config_, *rules_, *store_, makes_pods(), std::move(guard)}, *authorizer_,
      [this] { return live_moment(*machine_, *control_, *store_); },
      [this] { return history_ ? history_->run_times() : PastRunTimes(); });
}

Result<void> HostInstance::make_first_objects() {
  std::vector<json::object> wanted = bootstrap_objects();
  for (const auto name : kNamespaces)
    wanted.push_back({{"apiVersion", "v1"},
                      {"kind", "Namespace"},
                      {"metadata", json::object{{"name", api::json_view(name)}}}});
  std::string failed;
  auto done = control_->run_and_wait([&](ObjectAccess& objects) {
    if (const auto made = executor_->make_nodes(objects); !made) failed = made.error().text;
    for (const json::object& object : wanted) {
      const auto made = objects.create(object);
      if (!made && made.error().code != 409) failed = made.error().text;
    }
  });
  if (!failed.empty()) return Error{"a first object was refused: " + failed};
  return done;
}

std::vector<Reading> HostInstance::readings(const ObjectAccess& objects) const {
  std::vector<Reading> out = live_readings(
      {*machine_, *control_, *store_, *decision_metrics_, config_.engine.fair_sharing}, objects);
  const auto count = [&](const char* name, const char* help, auto value, bool counter) {
    out.push_back(reading(name, help, static_cast<double>(value), counter));
  };
  count("sluice_store_backlog_changes", "Changes that are not durable yet", store_->backlog(),
        false);
  count("sluice_store_failed", "1 when nothing can be written any more",
        store_->failure().empty() ? 0 : 1, false);
  count("sluice_store_bytes", "Bytes of the objects' texts", store_->use().bytes, false);
  count("sluice_store_no_room", "1 while the disk has no room for more objects",
        store_->no_room().empty() ? 0 : 1, false);
  for (Reading& each : remote_readings(remotes_->health())) out.push_back(std::move(each));
  if (history_) {
    const HistoryState history = history_->state();
    count("sluice_history_rows_written_total", "Runs that were written into the history",
          history.written, true);
    count("sluice_history_made_up_total",
          "Times that the history was made up from the objects as they are", history.made_up, true);
    count("sluice_history_bytes", "Bytes of the history", history.bytes, false);
    count("sluice_history_failed", "1 while the history cannot be written",
          history.failure.empty() ? 0 : 1, false);
  }
  return out;
}

ApiBackend HostInstance::backend(const HostAuthenticator& authenticator) {
  ApiBackend out;
  out.scheme = &rules_->scheme;
  out.store = store_.get();
  out.writes = control_.get();
  out.authorizer = authorizer_.get();
  out.logs = executor_->logs();
  out.usage = executor_->usage();
  out.insight = insight_.get();
  out.what_if = what_if_.get();
  out.history = history_.get();
  out.roles = [this] { return authorizer_->index(); };
  out.holder_of = [&authenticator](std::string_view token) {
    return authenticator.holder_of(token);
  };
  return out;
}

void HostInstance::hand_over(const std::vector<std::string>& plugins) {
  if (executor_) executor_->keep_pods();
  stop();
  history_.reset();
  this->plugins().turn_off(plugins);
  auto durable = std::make_shared<std::promise<void>>();
  store_->commit([durable](const Result<void>&) { durable->set_value(); });
  durable->get_future().wait();
}

void HostInstance::abandon(std::unique_ptr<HostInstance> instance,
                           const std::function<void()>& stopped) {
  static HostInstance* last = nullptr;  // can be reached, so it is no leak
  instance->stop();
  stopped();
  instance->history_.reset();
  instance->what_if_.reset();
  instance->authorizer_.reset();
  instance->insight_.reset();
  instance->control_.reset();
  instance->remotes_.reset();
  instance->executor_.reset();
  if (instance->store_) instance->store_->close();
  instance->rules_->plugins.reset();
  last = instance.release();
  SLUICE_CHECK(last != nullptr, "no HostInstance to abandon");
}

void HostInstance::stop() {
  if (what_if_) what_if_->stop();
  if (executor_) executor_->stop();
  if (control_) control_->stop();  // plugins wake it until what they judge is answered
  if (rules_) plugins().set_wake({});
  if (remotes_) {
    plugins().connect_remotes(nullptr);
    remotes_->stop();
  }
  if (history_) history_->stop();  // which has seen all that was decided by then
}

}  // namespace sluice::host
