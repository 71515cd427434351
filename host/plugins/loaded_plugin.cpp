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
    return "it threw: " + shown_text(std::string_view(e.what()));
  } catch (...) {
    return "it threw something that is no std::exception";
  }
}

/// What a call of a plugin's life came to, and what it said of that, an exception included.
struct LifeCall {
  std::int32_t code = SLUICE_OK;
  std::string said;
};

template <typename Call>
LifeCall call_life(const std::string& plugin, Hook hook, const Call& call) {
  try {
    IncomingText said(kSentenceBytes);
    const sluice_sink_t sink = said.sink();
    const CallBoard::Scope seen(plugin, hook);
    const std::int32_t code = call(&sink);
    return {code, said.shown()};
  } catch (...) {
    return {SLUICE_FAILED, current_exception_text()};
  }
}

LifeCall call_off(const sluice_plugin_t& root, sluice_instance_t* self, const std::string& plugin) {
  return call_life(plugin, Hook::kDeactivate, [&](const sluice_sink_t* sink) {
    return root.deactivate == nullptr ? SLUICE_OK : root.deactivate(self, sink);
  });
}

}  // namespace

LoadedPlugin::LoadedPlugin(const sluice_plugin_t& root, const PluginConfig& config,
                           const HostServices& services, const FaultLimits& limits)
    : root_(root),
      name_(config.name),
      version_(shown_text(root.version)),
      policy_(config.failure_policy),
      services_(services),
      limits_(limits),
      health_(limits) {}

Result<std::vector<std::string>> LoadedPlugin::names(Hook hook, NamesFunction function,
                                                     const char* what) {
  IncomingText text;
  const sluice_sink_t sink = text.sink();
  std::vector<std::string> out;
  hooks::Fault fault;
  const Answer answer = call(hook, fault, [&] {
    const std::int32_t code = function(self_, &sink);
    Nonsense nonsense;
    out = text.names(what, nonsense);
    return judged(code, nonsense);
  });
  if (answer != Answer::kOk) return Error{health_.last_fault()};
  return out;
}

Result<std::unique_ptr<LoadedPlugin>> LoadedPlugin::create(const sluice_plugin_t& root,
                                                           const PluginConfig& config,
                                                           const HostServices& services,
                                                           const FaultLimits& limits) {
  const std::string where = "plugin " + config.name;
  auto schema = ConfigSchema::parse(view_of(root.config_schema));
  if (!schema.ok()) return schema.error().context(where + ": the schema of its configuration");
  auto checked = schema->check(config.config_json, config.host_json);
  if (!checked.ok()) return checked.error().context(where);

  std::unique_ptr<LoadedPlugin> plugin(new LoadedPlugin(root, config, services, limits));
  plugin->host_side_ =
      std::make_unique<HostSide>(config.name, std::move(checked).value(), services);
  plugin->host_side_->origin().root = &root;
  const std::string text = plugin->host_side_->config_text();
  auto [code, error] = call_life(config.name, Hook::kCreate, [&](const sluice_sink_t* sink) {
    return root.create(plugin->host_side_->table(), abi_of(text), &plugin->self_, sink);
  });
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
  if (config.process) plugin->process_ = &process_of(plugin->self_);
  if (auto found = plugin->find_extensions(); !found.ok()) return found.error().context(where);
  return plugin;
}

Result<void> LoadedPlugin::find_extensions() {
  std::string_view incomplete;
  try {
    incomplete = extensions_.find(root_, self_);
  } catch (...) {
    return Error{"its extension function failed: " + current_exception_text()};
  }
  if (!incomplete.empty())
    return Error{"its table for " + std::string(incomplete) +
                 " lacks a function that it must have"};
  host_side_->allow({extensions_.timers != nullptr, extensions_.check_controller != nullptr});
  return {};
}

LoadedPlugin::~LoadedPlugin() {
  end();
  HostSide::keep(std::move(host_side_));
}

void LoadedPlugin::end() {
  if (self_ == nullptr) return;
  if (active_) {
    const LifeCall off = call_off(root_, self_, name_);
    if (off.code != SLUICE_OK) log(2, "deactivate failed: " + off.said);
  }
  const LifeCall gone = call_life(name_, Hook::kDestroy, [&](const sluice_sink_t*) {
    root_.destroy(self_);
    return SLUICE_OK;
  });
  if (gone.code != SLUICE_OK) log(3, "it could not be ended: " + gone.said);
}

void LoadedPlugin::quarantine(const std::string& why) {
  health_.quarantine(why);
  log(3, "quarantined: " + why);
}

Result<void> LoadedPlugin::activate() {
  if (health_.quarantined()) return {};
  auto [code, error] = call_life(name_, Hook::kActivate, [&](const sluice_sink_t* sink) {
    return root_.activate == nullptr ? SLUICE_OK : root_.activate(self_, sink);
  });
  active_ = code == SLUICE_OK;
  if (active_) return {};
  if (error.empty()) error = "activate answered " + std::to_string(code) + " without a reason";
  return Error{"plugin " + name_ + " cannot be activated: " + error};
}

Result<void> LoadedPlugin::turn_off() {
  if (!active_ || off_) return {};
  set_patience(0);
  go_on();  // what is under way
  in_line_.clear();
  host_side_->begin_call();
  const LifeCall off = call_off(root_, self_, name_);
  active_ = false;
  off_ = true;  // before what it wrote is looked at: nobody asks it about that
  const Result<void> written = host_side_->end_call(off.code == SLUICE_OK);
  if (off.code != SLUICE_OK)
    return Error{"plugin " + name_ + " cannot be turned off: " +
                 (off.said.empty() ? "it failed without a reason" : off.said)};
  if (!written) return written.error().context("plugin " + name_);
  return {};
}

bool LoadedPlugin::go_on() {
  bool ended = false;
  while (!in_line_.empty() && pace_.pause(services_.clock->steady()) == 0) {
    if (first_began_ && process_->is_waiting()) break;
    // It stays in line meanwhile: what it asks next comes after all that waits.
    const bool over = in_line_.front()(std::exchange(first_began_, true));
    if (!over) break;
    in_line_.pop_front();
    first_began_ = false;
    ended = true;
  }
  return ended;
}

std::optional<Duration> LoadedPlugin::next_turn() const {
  if (in_line_.empty() || (first_began_ && process_->is_waiting())) return std::nullopt;
  return pace_.pause(services_.clock->steady());
}

void LoadedPlugin::set_patience(Duration patience) {
  if (process_ != nullptr) process_->set_patience(patience);
}

Answer LoadedPlugin::blame(Hook hook, const std::string& wrong, hooks::Fault& fault,
                           const CallAbout& about) {
  return finish_fault(hook, about, "its answer makes no sense: " + wrong, fault);
}

Answer LoadedPlugin::refuse_quarantined(hooks::Fault& fault) const {
  if (is_open()) return Answer::kOpen;
  const std::string because = health_.quarantined_because();
  fault = {name_, "plugin " + name_ + " is quarantined" +
                      (because.empty() ? " after " + std::to_string(limits_.quarantine_faults) +
                                             " faults, the last: " + health_.last_fault()
                                       : ": " + because)};
  return Answer::kClosed;
}

Answer LoadedPlugin::finish_thrown(Hook hook, const CallAbout& about, Duration took,
                                   hooks::Fault& fault) noexcept {
  health_.count(hook, took);
  return finish_fault(hook, about, current_exception_text(), fault);
}

Answer LoadedPlugin::finish_unusual(Hook hook, const CallAbout& about, std::int32_t code,
                                    Duration took, Duration budget, hooks::Fault& fault) {
  // Whoever it was about, everybody waited: each counts.
  if (took > budget * limits_.fault_factor)
    return finish_fault(
        hook, {},
        "it took " + seconds(took) + ", the limit is " + seconds(budget * limits_.fault_factor),
        fault);
  if (took > budget && health_.may_warn(hook, services_.clock->now()))
    log(2, std::string(hook_name(hook)) + " took " + seconds(took) + ", its budget is " +
               seconds(budget));
  if (code == SLUICE_OK) return Answer::kOk;
  if (code == kProcessAway && process_ != nullptr)
    return finish_lost(hook, host_side_->take_fault_text(), fault);
  if (code == SLUICE_RETRY && hook == Hook::kNotify) return Answer::kRetry;
  const std::string text = host_side_->take_fault_text();
  if (code == kNonsense) return blame(hook, text, fault, about);
  if (code != SLUICE_FAILED)
    return finish_fault(hook, about, "it answered the unknown code " + std::to_string(code), fault);
  // What is refused is up to the objects, which users make: it says nothing about the plugin.
  if (host_side_->in_call() && host_side_->course().refused)
    return finish_uncounted(hook, "what it writes is refused: " + text, fault);
  return finish_fault(hook, about,
                      text.empty() ? "it failed without a reason" : "it failed: " + text, fault);
}

Answer LoadedPlugin::finish_fault(Hook hook, const CallAbout& about, const std::string& what,
                                  hooks::Fault& fault) {
  const std::string text = "plugin " + name_ + ", " + std::string(hook_name(hook)) + ": " + what;
  const bool now_quarantined =
      health_.record_fault(hook, services_.clock->now(), text, about.text());
  log(3, std::string(hook_name(hook)) + ": " + what);
  if (now_quarantined)
    log(3, "quarantined after " + std::to_string(limits_.quarantine_faults) +
               " faults; it is called no more until the host is reloaded (SIGHUP) or restarts");
  if (is_open()) return Answer::kOpen;
  fault = {name_, text};
  return Answer::kClosed;
}

/// Nobody answered. Who dies is started again with growing pauses; that is all the quarantine that
/// it needs.
Answer LoadedPlugin::finish_lost(Hook hook, const std::string& what, hooks::Fault& fault) {
  lost_ = true;
  return finish_uncounted(hook, what, fault);
}

/// A fault that is none of the plugin's answers.
Answer LoadedPlugin::finish_uncounted(Hook hook, const std::string& what, hooks::Fault& fault) {
  const std::string text = "plugin " + name_ + ", " + std::string(hook_name(hook)) + ": " + what;
  health_.note_loss(hook, text);
  log(3, std::string(hook_name(hook)) + ": " + what);
  if (is_open()) return Answer::kOpen;
  fault = {name_, text};
  return Answer::kClosed;
}

void LoadedPlugin::log(int level, const std::string& text) const {
  if (services_.log) services_.log(level, name_, text);
}

}  // namespace sluice::host
