#include "host/plugins/plugin_set.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "core/base/check.hpp"
#include "host/plugins/library.hpp"
#include "host/plugins/signature.hpp"

namespace sluice::host {

namespace {

/// Lines on standard error: standard output belongs to the command's own results.
void log_to_stderr(int level, std::string_view plugin, std::string_view text) {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>(
        "plugins", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_pattern("%l: %v");
    return made;
  }();
  constexpr std::array kLevels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                  spdlog::level::err};
  logger->log(kLevels[static_cast<std::size_t>(std::clamp(level, 0, 3))], "plugin {}: {}", plugin,
              text);
}

template <typename Pick>
std::vector<LoadedPlugin*> those_with(const std::vector<std::unique_ptr<LoadedPlugin>>& plugins,
                                      Pick pick) {
  std::vector<LoadedPlugin*> found;
  for (const auto& plugin : plugins)
    if (pick(plugin->extensions())) found.push_back(plugin.get());
  return found;
}

/// What a library declares, and its code has no table for: without that a policy would be missing
/// in silence. Empty: nothing. What this host does not know is for others.
std::string undelivered(const Declarations& declared, const LoadedPlugin& plugin) {
  const auto ids = plugin.extensions().ids();
  for (const PointInfo& known : extension_points()) {
    const bool says = std::find(declared.provides.begin(), declared.provides.end(), known.id) !=
                      declared.provides.end();
    if (says && std::find(ids.begin(), ids.end(), known.id) == ids.end())
      return std::string(known.id);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<PluginSet>> PluginSet::load(const PluginSetConfig& config) {
  SLUICE_CHECK(config.clock != nullptr, "a PluginSet needs a clock");
  std::unique_ptr<PluginSet> set(new PluginSet());
  set->services_ = {config.clock, &set->metrics_, config.log ? config.log : LogSink(log_to_stderr)};
  set->limits_ = config.limits;
  for (const PluginConfig& plugin : config.plugins) {
    if (!plugin.enabled) continue;
    if (config.loading) config.loading(plugin.name);
    if (auto loaded = set->load_one(plugin, config); !loaded.ok()) return loaded.error();
  }
  if (auto collected = set->collect_contributions(); !collected.ok()) return collected.error();
  if (auto bound = set->bind(config); !bound.ok()) return bound.error();
  for (std::size_t i = 0; i < set->in_quarantine_.size(); ++i)
    if (const std::string& why = set->in_quarantine_[i]; !why.empty())
      set->plugins_[i]->quarantine(why);
  return set;
}

Result<std::unique_ptr<PluginSet>> PluginSet::again(
    const PluginClock& clock, LogSink log, const std::vector<std::string>& quarantined) const {
  PluginSetConfig config;
  config.clock = &clock;
  config.limits = limits_;
  std::unique_ptr<PluginSet> set(new PluginSet());
  set->services_ = {&clock, &set->metrics_, std::move(log)};
  set->limits_ = limits_;
  for (const Source& source : sources_)
    if (auto created = set->create(source, limits_); !created.ok()) return created.error();
  if (auto bound = set->bind(config); !bound.ok()) return bound.error();
  for (const auto& plugin : set->plugins_)
    if (std::find(quarantined.begin(), quarantined.end(), plugin->name()) != quarantined.end())
      plugin->quarantine("it is in quarantine");
  return set;
}

Result<void> PluginSet::create(Source source, const FaultLimits& limits) {
  auto loaded = LoadedPlugin::create(*source.root, source.config, services_, limits);
  if (!loaded.ok()) return loaded.error();
  if (const std::string lacks = undelivered(source.declared, **loaded); !lacks.empty())
    return Error{fmt::format("plugin {}: its file says that it provides {}, and its code does not",
                             source.config.name, lacks)};
  (*loaded)->host_side().origin().declared = source.declared;
  plugins_.push_back(std::move(loaded).value());
  sources_.push_back(std::move(source));
  return {};
}

PluginSet::~PluginSet() {
  while (!plugins_.empty()) plugins_.pop_back();
}

/// The library, judged and loaded, or the process that stands in for one.
Result<PluginSet::Source> PluginSet::open(const PluginConfig& plugin, const PluginSetConfig& config,
                                          std::string& sha256) const {
  if (plugin.process && !plugin.process->command.empty()) {
    auto root = ProcessRoot::load(plugin, config.directory, nullptr, config.program);
    if (!root) return root.error();
    return Source{plugin, root->get(), *root, {.any_object = true, .provides = {}, .may = {}}};
  }
  auto file = read_trusted_plugin(config.directory, plugin);
  if (!file.ok()) return file.error();
  if (plugin.process) {
    auto root = ProcessRoot::load(plugin, config.directory, &*file, config.program);
    if (!root) return root.error();
    return Source{plugin, root->get(), *root, std::move(file->declared)};
  }
  const auto root = load_library(*file);
  if (!root.ok()) return root.error();
  sha256 = file->sha256;
  return Source{plugin, *root, nullptr, std::move(file->declared)};
}

Result<void> PluginSet::load_one(const PluginConfig& plugin, const PluginSetConfig& config) {
  const std::string where = "plugin " + plugin.name;
  for (const auto& other : plugins_)
    if (other->name() == plugin.name) return Error{where + " is listed twice"};
  std::string sha256;  // of what may take the host along; empty: nothing
  auto source = open(plugin, config, sha256);
  if (!source) return source.error().context(where);
  if (auto created = create(std::move(*source), config.limits); !created.ok())
    return created.error();
  if (config.deaths != nullptr)
    in_quarantine_.push_back(sha256.empty() ? std::string()
                                            : config.deaths->quarantine_of(plugin.name, sha256));
  return {};
}

Result<void> PluginSet::collect_contributions() {
  for (LoadedPlugin* plugin :
       those_with(plugins_, [](const Extensions& e) { return e.schema != nullptr; })) {
    IncomingText text;
    const sluice_sink_t sink = text.sink();
    std::string json;
    hooks::Fault fault;
    const Answer answer = plugin->call(Hook::kSchema, fault, [&] {
      const std::int32_t code = plugin->extensions().schema->contribute(plugin->self(), &sink);
      Nonsense nonsense;
      json = text.document("the contribution", nonsense);
      return plugin->judged(code, nonsense);
    });
    if (answer != Answer::kOk)
      return Error{"plugin " + plugin->name() +
                   " does not say what it adds to the schema: " + plugin->health().last_fault()};
    contributions_.push_back({plugin->name(), std::move(json)});
  }
  return {};
}

Result<void> PluginSet::bind(const PluginSetConfig& config) {
  const auto searches =
      those_with(plugins_, [](const Extensions& e) { return e.search != nullptr; });
  if (searches.size() > 1)
    return Error{"plugins " + searches[0]->name() + " and " + searches[1]->name() +
                 " both provide " SLUICE_EXT_FLAVOR_SEARCH
                 "; at most one may: take one of them out of plugins.load"};
  const auto watchers =
      those_with(plugins_, [](const Extensions& e) { return e.queue_watch != nullptr; });
  if (!searches.empty()) search_ = std::make_unique<SearchBridge>(*searches[0]);
  if (!watchers.empty()) watch_ = std::make_unique<WatchBridge>(watchers);

  const auto filters =
      those_with(plugins_, [](const Extensions& e) { return e.filter != nullptr; });
  if (!filters.empty()) filter_ = std::make_unique<FilterBridge>(filters);

  const auto vetoes = those_with(plugins_, [](const Extensions& e) { return e.veto != nullptr; });
  if (!vetoes.empty()) veto_ = std::make_unique<VetoBridge>(vetoes);

  const auto traits = those_with(plugins_, [](const Extensions& e) { return e.traits != nullptr; });
  const auto shaping = those_with(plugins_, [](const Extensions& e) {
    return e.filter != nullptr && SLUICE_HAS(e.filter, shape_key) && e.filter->shape_key != nullptr;
  });
  if (auto bound = bind_order(); !bound.ok()) return bound.error();
  OrderBridge* order = order_ && order_->orders_workloads() ? order_.get() : nullptr;
  if (!traits.empty() || !shaping.empty() || order)
    traits_ = std::make_unique<TraitsBridge>(traits, shaping, order);

  const auto mappings =
      those_with(plugins_, [](const Extensions& e) { return e.job_mapping != nullptr; });
  if (!mappings.empty()) mapping_ = std::make_unique<MappingBridge>(mappings);
  const auto gates =
      those_with(plugins_, [](const Extensions& e) { return e.pod_gate != nullptr; });
  if (!gates.empty()) pod_gate_ = std::make_unique<PodGateBridge>(gates);

  auto checks = CheckBridge::make(
      those_with(plugins_, [](const Extensions& e) { return e.check_controller != nullptr; }));
  if (!checks.ok()) return checks.error();
  checks_ = std::make_unique<CheckBridge>(std::move(checks).value());

  for (LoadedPlugin* plugin :
       those_with(plugins_, [](const Extensions& e) { return e.controller != nullptr; })) {
    auto controller = ControllerBridge::make(*plugin);
    if (!controller.ok()) return controller.error();
    controllers_.push_back(std::move(controller).value());
  }

  auto notifier = Notifier::make(
      those_with(plugins_, [](const Extensions& e) { return e.post_admit != nullptr; }),
      *config.clock, services_.log, config.limits);
  if (!notifier.ok()) return notifier.error();
  notifier_ = std::move(notifier).value();

  auto validators = Validators::make(
      those_with(plugins_, [](const Extensions& e) { return e.validator != nullptr; }));
  if (!validators.ok()) return validators.error();
  validators_ = std::move(validators).value();
  return {};
}

Result<void> PluginSet::bind_order() {
  const auto orders =
      those_with(plugins_, [](const Extensions& e) { return e.queue_order != nullptr; });
  if (orders.size() > 1)
    return Error{"plugins " + orders[0]->name() + " and " + orders[1]->name() +
                 " both provide " SLUICE_EXT_QUEUE_ORDER
                 "; at most one may: take one of them out of plugins.load"};
  if (!orders.empty()) order_ = std::make_unique<OrderBridge>(*orders[0]);
  return {};
}

Result<void> PluginSet::activate() {
  for (const auto& plugin : plugins_)
    if (auto activated = plugin->activate(); !activated.ok()) return activated.error();
  active_ = true;
  return {};
}

hooks::HostHooks PluginSet::hooks() {
  SLUICE_CHECK(active_, "hooks() before activate()");
  hooks::HostHooks hooks;
  hooks.queue_watch = watch_.get();
  hooks.flavor_search = search_.get();
  hooks.flavor_filter = filter_.get();
  hooks.preemption_veto = veto_.get();
  hooks.workload_traits = traits_.get();
  hooks.queue_order = order_.get();
  hooks.job_mapping = mapping_.get();
  hooks.pod_gate = pod_gate_.get();
  for (const auto& plugin : plugins_) hooks.plugins.push_back(plugin->name());
  return hooks;
}

void PluginSet::turn_off(const std::vector<std::string>& staying) {
  for (auto it = plugins_.rbegin(); it != plugins_.rend(); ++it) {
    LoadedPlugin& plugin = **it;
    if (std::find(staying.begin(), staying.end(), plugin.name()) != staying.end()) continue;
    if (auto done = plugin.turn_off(); !done) services_.log(3, plugin.name(), done.error().text);
  }
}

void PluginSet::connect(ObjectPort* port) {
  for (const auto& plugin : plugins_) plugin->host_side().connect(port);
}

void PluginSet::connect_remotes(RemoteObjectsPort* remotes) {
  for (const auto& plugin : plugins_) plugin->host_side().elsewhere().connect(remotes);
}

void PluginSet::set_wake(const std::function<void()>& wake) {
  for (const auto& plugin : plugins_) plugin->host_side().set_wake(wake);
}

void PluginSet::set_patience(Duration patience) {
  for (const auto& plugin : plugins_) plugin->set_patience(patience);
}

bool PluginSet::go_on() {
  bool ended = false;
  for (const auto& plugin : plugins_) ended |= plugin->go_on();
  return ended;
}

Time PluginSet::next_timer() const {
  Time next = notifier_->next_retry();
  for (const auto& plugin : plugins_) {
    const Time timer = plugin->host_side().next_timer();
    const Duration pause = timer == kNever ? 0 : plugin->pause();
    next = std::min(next, pause > 0 ? std::max(timer, services_.clock->now() + pause) : timer);
    if (const auto turn = plugin->next_turn())
      next = std::min(next, services_.clock->now() + *turn);
  }
  return next;
}

void PluginSet::fire_timers(Time now) {
  for (const auto& plugin : plugins_) {
    if (plugin->pause() > 0) continue;  // next_timer() says when
    for (const std::uint64_t timer : plugin->host_side().take_due_timers(now)) {
      const auto fire = [asked = plugin.get(), timer, now] {
        return asked->extensions().timers->fired(asked->self(), timer, now);
      };
      plugin->ask(Hook::kTimer, {}, fire,
                  [](Answer, const hooks::Fault&, bool) {});  // faults are counted and logged
    }
  }
  notifier_->retry(now);
}

std::vector<EngineRequest> PluginSet::take_requests() {
  std::vector<EngineRequest> all;
  for (const auto& plugin : plugins_)
    for (EngineRequest& request : plugin->host_side().take_requests())
      all.push_back(std::move(request));
  return all;
}

std::vector<PluginEvent> PluginSet::take_events() {
  std::vector<PluginEvent> all;
  for (const auto& plugin : plugins_)
    for (PluginEvent& event : plugin->host_side().take_events()) all.push_back(std::move(event));
  return all;
}

std::vector<ObjectRight> PluginSet::rights() const {
  std::vector<ObjectRight> out;
  for (const Source& each : sources_)
    out.insert(out.end(), each.declared.may.begin(), each.declared.may.end());
  return out;
}

std::vector<PluginStatus> PluginSet::status() const {
  std::vector<PluginStatus> all;
  for (const auto& plugin : plugins_) {
    const Health& health = plugin->health();
    PluginStatus status{plugin->name(),
                        plugin->version(),
                        plugin->extensions().ids(),
                        plugin->extensions().functions(),
                        health.quarantined(),
                        health.longest_hold(),
                        health.faults(),
                        health.last_fault(),
                        {}};
    for (std::size_t i = 0; i < kHookCount; ++i) {
      const auto hook = static_cast<Hook>(i);
      if (const HookStats stats = health.stats(hook); stats.calls > 0)
        status.hooks.push_back({hook_name(hook), stats});
    }
    all.push_back(std::move(status));
  }
  return all;
}

bool PluginSet::reset_quarantine(std::string_view name) {
  for (const auto& plugin : plugins_) {
    if (plugin->name() != name) continue;
    plugin->health().reset();
    return true;
  }
  return false;
}

}  // namespace sluice::host
