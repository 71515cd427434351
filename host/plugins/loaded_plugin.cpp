#include "host/plugins/loaded_plugin.hpp"

#include <exception>

#include "host/plugins/config_schema.hpp"

namespace sluice::host {

namespace {

std::string seconds(Duration time) {
  const Duration ms = time / kMillisecond;
  return ms >= 1000 ? std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s"
                    : std::to_string(ms) + " ms";
}

/// The message of the exception that is being handled.
std::string current_exception_text() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    return std::string("it threw: ") + e.what();
  } catch (...) {
    return "it threw something that is no std::exception";
  }
}

/// Looks one extension point up; false when its table lacks a function that it must have.
template <typename Table, typename... Members>
bool look_up(const sluice_plugin_t& root, sluice_instance_t* self, std::string_view id,
             const Table*& out, Members Table::*... required) {
  const auto* table = static_cast<const Table*>(root.extension(self, abi_of(id)));
  if (table == nullptr) return true;
  out = table;
  const auto is_there = [table](const auto& function) {
    const auto offset =
        reinterpret_cast<const char*>(&function) - reinterpret_cast<const char*>(table);
    return static_cast<std::uint64_t>(offset) + sizeof(function) <= table->size &&
           function != nullptr;
  };
  return (... && is_there(table->*required));
}

}  // namespace

std::vector<std::string_view> Extensions::ids() const {
  std::vector<std::string_view> ids;
  if (filter != nullptr) ids.emplace_back(SLUICE_EXT_FLAVOR_FILTER);
  if (search != nullptr) ids.emplace_back(SLUICE_EXT_FLAVOR_SEARCH);
  if (veto != nullptr) ids.emplace_back(SLUICE_EXT_PREEMPTION_VETO);
  if (traits != nullptr) ids.emplace_back(SLUICE_EXT_WORKLOAD_TRAITS);
  if (post_admit != nullptr) ids.emplace_back(SLUICE_EXT_POST_ADMIT);
  if (queue_watch != nullptr) ids.emplace_back(SLUICE_EXT_QUEUE_WATCH);
  if (timers != nullptr) ids.emplace_back(SLUICE_EXT_TIMERS);
  if (schema != nullptr) ids.emplace_back(SLUICE_EXT_SCHEMA);
  if (validator != nullptr) ids.emplace_back(SLUICE_EXT_VALIDATOR);
  if (job_mapping != nullptr) ids.emplace_back(SLUICE_EXT_JOB_MAPPING);
  if (pod_gate != nullptr) ids.emplace_back(SLUICE_EXT_POD_GATE);
  if (check_controller != nullptr) ids.emplace_back(SLUICE_EXT_CHECK_CONTROLLER);
  if (controller != nullptr) ids.emplace_back(SLUICE_EXT_CONTROLLER);
  return ids;
}

LoadedPlugin::LoadedPlugin(const sluice_plugin_t& root, const PluginConfig& config,
                           const HostServices& services, const FaultLimits& limits)
    : root_(root),
      name_(config.name),
      version_(text_of(root.version)),
      policy_(config.failure_policy),
      services_(services),
      limits_(limits),
      health_(limits) {}

Result<std::unique_ptr<LoadedPlugin>> LoadedPlugin::create(const sluice_plugin_t& root,
                                                           const PluginConfig& config,
                                                           const HostServices& services,
                                                           const FaultLimits& limits) {
  const std::string where = "plugin " + config.name;
  auto schema = ConfigSchema::parse(view_of(root.config_schema));
  if (!schema.ok()) return schema.error().context(where + ": the schema of its configuration");
  auto checked = schema->check(config.config_json);
  if (!checked.ok()) return checked.error().context(where);

  std::unique_ptr<LoadedPlugin> plugin(new LoadedPlugin(root, config, services, limits));
  plugin->host_side_ =
      std::make_unique<HostSide>(config.name, std::move(checked).value(), services);
  const std::string text = plugin->host_side_->config_text();
  std::string error;
  const sluice_sink_t sink = sink_into(error);
  std::int32_t code = SLUICE_FAILED;
  try {
    code = root.create(plugin->host_side_->table(), abi_of(text), &plugin->self_, &sink);
  } catch (...) {
    error = current_exception_text();
  }
  if (code == SLUICE_OK && plugin->self_ == nullptr) {
    code = SLUICE_FAILED;
    error = "create answered OK without an instance";
  }
  if (code != SLUICE_OK) {
    plugin->self_ = nullptr;
    if (error.empty()) error = "create answered " + std::to_string(code) + " without a reason";
    return Error{
        where + (code == SLUICE_REFUSED ? " refuses its configuration: " : " cannot be created: ") +
        error};
  }
  if (auto found = plugin->find_extensions(); !found.ok()) return found.error().context(where);
  return plugin;
}

Result<void> LoadedPlugin::find_extensions() {
  Extensions& e = extensions_;
  const char* incomplete = nullptr;
  const auto check = [&](bool complete, const char* id) {
    if (!complete) incomplete = id;
  };
  try {
    check(
        look_up(root_, self_, SLUICE_EXT_FLAVOR_FILTER, e.filter, &sluice_flavor_filter_t::filter),
        SLUICE_EXT_FLAVOR_FILTER);
    check(look_up(root_, self_, SLUICE_EXT_FLAVOR_SEARCH, e.search,
                  &sluice_flavor_search_t::after_flavor, &sluice_flavor_search_t::better,
                  &sluice_flavor_search_t::keep_position),
          SLUICE_EXT_FLAVOR_SEARCH);
    check(
        look_up(root_, self_, SLUICE_EXT_PREEMPTION_VETO, e.veto, &sluice_preemption_veto_t::veto),
        SLUICE_EXT_PREEMPTION_VETO);
    check(look_up(root_, self_, SLUICE_EXT_WORKLOAD_TRAITS, e.traits,
                  &sluice_workload_traits_t::traits),
          SLUICE_EXT_WORKLOAD_TRAITS);
    check(look_up(root_, self_, SLUICE_EXT_POST_ADMIT, e.post_admit, &sluice_post_admit_t::notify),
          SLUICE_EXT_POST_ADMIT);
    check(look_up(root_, self_, SLUICE_EXT_QUEUE_WATCH, e.queue_watch,
                  &sluice_queue_watch_t::queue_changed),
          SLUICE_EXT_QUEUE_WATCH);
    check(look_up(root_, self_, SLUICE_EXT_TIMERS, e.timers, &sluice_timers_t::fired),
          SLUICE_EXT_TIMERS);
    check(look_up(root_, self_, SLUICE_EXT_SCHEMA, e.schema, &sluice_schema_t::contribute),
          SLUICE_EXT_SCHEMA);
    check(look_up(root_, self_, SLUICE_EXT_VALIDATOR, e.validator, &sluice_validator_t::kinds,
                  &sluice_validator_t::validate),
          SLUICE_EXT_VALIDATOR);
    check(look_up(root_, self_, SLUICE_EXT_JOB_MAPPING, e.job_mapping, &sluice_job_mapping_t::plan),
          SLUICE_EXT_JOB_MAPPING);
    check(look_up(root_, self_, SLUICE_EXT_POD_GATE, e.pod_gate, &sluice_pod_gate_t::gates,
                  &sluice_pod_gate_t::granted),
          SLUICE_EXT_POD_GATE);
    check(
        look_up(root_, self_, SLUICE_EXT_CHECK_CONTROLLER, e.check_controller,
                &sluice_check_controller_t::controllers, &sluice_check_controller_t::check_changed,
                &sluice_check_controller_t::begin, &sluice_check_controller_t::cancel),
        SLUICE_EXT_CHECK_CONTROLLER);
    check(look_up(root_, self_, SLUICE_EXT_CONTROLLER, e.controller, &sluice_controller_t::kinds,
                  &sluice_controller_t::reconcile),
          SLUICE_EXT_CONTROLLER);
  } catch (...) {
    return Error{"its extension function failed: " + current_exception_text()};
  }
  if (incomplete != nullptr)
    return Error{std::string("its table for ") + incomplete +
                 " lacks a function that it must have"};
  if (e.timers != nullptr) host_side_->allow_timers();
  return {};
}

LoadedPlugin::~LoadedPlugin() {
  if (self_ == nullptr) return;
  try {
    std::string error;
    const sluice_sink_t sink = sink_into(error);
    if (active_ && root_.deactivate != nullptr && root_.deactivate(self_, &sink) != SLUICE_OK)
      log(2, "deactivate failed: " + error);
    root_.destroy(self_);
  } catch (...) {
    log(3, "it could not be ended: " + current_exception_text());
  }
}

Result<void> LoadedPlugin::activate() {
  std::string error;
  std::int32_t code = SLUICE_OK;
  if (root_.activate != nullptr) {
    try {
      const sluice_sink_t sink = sink_into(error);
      code = root_.activate(self_, &sink);
    } catch (...) {
      code = SLUICE_FAILED;
      error = current_exception_text();
    }
  }
  active_ = code == SLUICE_OK;
  if (active_) return {};
  if (error.empty()) error = "activate answered " + std::to_string(code) + " without a reason";
  return Error{"plugin " + name_ + " cannot be activated: " + error};
}

Result<void> LoadedPlugin::turn_off() {
  if (!active_ || off_) return {};
  std::string error;
  std::int32_t code = SLUICE_OK;
  host_side_->begin_call();
  if (root_.deactivate != nullptr) {
    try {
      const sluice_sink_t sink = sink_into(error);
      code = root_.deactivate(self_, &sink);
    } catch (...) {
      code = SLUICE_FAILED;
      error = current_exception_text();
    }
  }
  active_ = false;
  off_ = true;  // before what it wrote is looked at: nobody asks it about that
  const Result<void> written = host_side_->end_call(code == SLUICE_OK);
  if (code != SLUICE_OK)
    return Error{"plugin " + name_ + " cannot be turned off: " +
                 (error.empty() ? "it failed without a reason" : error)};
  if (!written) return written.error().context("plugin " + name_);
  return {};
}

Answer LoadedPlugin::refuse_quarantined(hooks::Fault& fault) const {
  if (is_open()) return Answer::kOpen;
  fault = {name_, "plugin " + name_ + " is quarantined after " +
                      std::to_string(limits_.quarantine_faults) +
                      " faults, the last: " + health_.last_fault()};
  return Answer::kClosed;
}

Answer LoadedPlugin::finish_thrown(Hook hook, Duration took, hooks::Fault& fault) noexcept {
  health_.count(hook, took);
  return finish_fault(hook, current_exception_text(), fault);
}

Answer LoadedPlugin::finish_unusual(Hook hook, std::int32_t code, Duration took, Duration budget,
                                    hooks::Fault& fault) {
  if (took > budget * limits_.fault_factor)
    return finish_fault(
        hook,
        "it took " + seconds(took) + ", the limit is " + seconds(budget * limits_.fault_factor),
        fault);
  if (took > budget && health_.may_warn(hook, services_.clock->now()))
    log(2, std::string(hook_name(hook)) + " took " + seconds(took) + ", its budget is " +
               seconds(budget));
  if (code == SLUICE_OK) return Answer::kOk;
  if (code == SLUICE_RETRY && hook == Hook::kNotify) return Answer::kRetry;
  if (code == kNonsense) return finish_fault(hook, "its answer makes no sense", fault);
  const std::string text = host_side_->take_fault_text();
  if (code != SLUICE_FAILED)
    return finish_fault(hook, "it answered the unknown code " + std::to_string(code), fault);
  return finish_fault(hook, text.empty() ? "it failed without a reason" : "it failed: " + text,
                      fault);
}

Answer LoadedPlugin::finish_fault(Hook hook, const std::string& what, hooks::Fault& fault) {
  const std::string text = "plugin " + name_ + ", " + std::string(hook_name(hook)) + ": " + what;
  const bool now_quarantined = health_.record_fault(hook, services_.clock->now(), text);
  log(3, std::string(hook_name(hook)) + ": " + what);
  if (now_quarantined)
    log(3, "quarantined after " + std::to_string(limits_.quarantine_faults) +
               " faults; it is called no more until the host is reloaded (SIGHUP) or restarts");
  if (is_open()) return Answer::kOpen;
  fault = {name_, text};
  return Answer::kClosed;
}

void LoadedPlugin::log(int level, const std::string& text) const {
  if (services_.log) services_.log(level, name_, text);
}

}  // namespace sluice::host
