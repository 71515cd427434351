// LoadedPlugin: one instance of one plugin, and the only way in which the host calls it.
//
// call() is the boundary: it measures, counts, catches what the plugin's own guard let through, and
// turns a bad answer into a fault. No lock is held inside. [cycle] hooks may be called from many
// threads; everything else by one thread at a time (the host's control thread).
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "core/hooks/hooks.hpp"
#include "host/config/config.hpp"
#include "host/plugins/call_board.hpp"
#include "host/plugins/extensions.hpp"
#include "host/plugins/health.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/pace.hpp"
#include "host/plugins/process/process_root.hpp"

namespace sluice::host {

/// How a call ended. With kClosed the fault is filled in and the closed default applies; with
/// kOpen nothing is filled in and the built-in default applies.
enum class Answer : std::uint8_t { kOk, kRetry, kClosed, kOpen };

class LoadedPlugin {
 public:
  /// Creates an instance of a library that is loaded already. The error names plugin and cause.
  static Result<std::unique_ptr<LoadedPlugin>> create(const sluice_plugin_t& root,
                                                      const PluginConfig& config,
                                                      const HostServices& services,
                                                      const FaultLimits& limits);
  /// Deactivates (when active) and destroys the instance.
  ~LoadedPlugin();
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;

  /// Nothing to do for a plugin in quarantine.
  Result<void> activate();
  /// It is called no more. Before activate().
  void quarantine(const std::string& why);
  /// Turned off while the host goes on: it may write what it leaves behind. From then on it is as
  /// if it answered nothing. An error: it failed, and nothing of it was written.
  Result<void> turn_off();

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  bool is_open() const { return policy_ == FailurePolicy::kOpen; }
  const Extensions& extensions() const { return extensions_; }
  sluice_instance_t* self() const { return self_; }
  HostSide& host_side() { return *host_side_; }
  Health& health() { return health_; }
  const Health& health() const { return health_; }

  /// What a call's fn returns: the plugin's code, but a fault when it said OK and its output makes
  /// no sense.
  std::int32_t judged(std::int32_t code, const Nonsense& nonsense) const {
    if (code != SLUICE_OK || !nonsense) [[likely]]
      return code;
    return judged(code, nonsense.sentence());
  }
  std::int32_t judged(std::int32_t code, std::string wrong) const {
    if (code != SLUICE_OK || wrong.empty()) return code;
    host_side_->set_fault_text(std::move(wrong));
    return kNonsense;
  }

  /// Calls fn() → code; `about`: for whom, for those who have to name the call. `fault` is written
  /// only when the answer is kClosed.
  template <typename Fn>
  Answer call(Hook hook, const CallAbout& about, hooks::Fault& fault, Fn&& fn) {
    if (off_) [[unlikely]]
      return Answer::kOpen;
    if (health_.quarantined()) [[unlikely]]
      return refuse_quarantined(fault);
    const PluginClock& clock = *services_.clock;
    const Duration start = clock.steady();
    std::int32_t code = SLUICE_FAILED;
    try {
      const CallBoard::Scope seen(name_, hook, about);
      code = fn();
    } catch (...) {
      return finish_thrown(hook, clock.steady() - start, fault);
    }
    const Duration took = clock.steady() - start;
    health_.count(hook, took);
    const Duration budget = is_cycle_hook(hook) ? limits_.cycle_budget : limits_.control_budget;
    if (code == SLUICE_OK && took <= budget) [[likely]]
      return Answer::kOk;
    return finish_unusual(hook, code, took, budget, fault);
  }

  template <typename Fn>
  Answer call(Hook hook, hooks::Fault& fault, Fn&& fn) {
    return call(hook, CallAbout{}, fault, std::forward<Fn>(fn));
  }

  /// As call(), for hooks in which the plugin may write objects: what it wrote takes effect when
  /// the answer is kOk, and never was when it is another.
  template <typename Fn>
  Answer call_writing(Hook hook, const CallAbout& about, hooks::Fault& fault, Fn&& fn) {
    const Duration began = services_.clock->steady();
    host_side_->begin_call();
    const Answer answer = call(hook, about, fault, std::forward<Fn>(fn));
    pace_.spent(began, services_.clock->steady());
    const Result<void> written = host_side_->end_call(answer == Answer::kOk);
    return written ? answer : finish_fault(hook, written.error().text, fault);
  }

  /// How long call_writing() should wait, so that others have their turn, or until its process is
  /// there again; 0: not at all.
  Duration pause() const {
    const Duration pace = pace_.pause(services_.clock->steady());
    return process_ == nullptr ? pace : std::max(pace, process_->pause());
  }
  /// It has a process of its own, which is not there.
  bool away() const { return process_ != nullptr && !process_->is_up(); }
  /// How often its process was started again: it has forgotten what it was told before. 0 for those
  /// that have none.
  std::uint64_t lives() const { return process_ == nullptr ? 0 : process_->lives(); }

 private:
  static constexpr std::int32_t kNonsense = std::numeric_limits<std::int32_t>::min();

  LoadedPlugin(const sluice_plugin_t& root, const PluginConfig& config,
               const HostServices& services, const FaultLimits& limits);
  Result<void> find_extensions();
  void end();
  Answer refuse_quarantined(hooks::Fault& fault) const;
  Answer finish_thrown(Hook hook, Duration took, hooks::Fault& fault) noexcept;
  Answer finish_unusual(Hook hook, std::int32_t code, Duration took, Duration budget,
                        hooks::Fault& fault);
  Answer finish_fault(Hook hook, const std::string& what, hooks::Fault& fault);
  Answer finish_away(Hook hook, hooks::Fault& fault);
  void log(int level, const std::string& text) const;

  const sluice_plugin_t& root_;
  std::string name_, version_;
  FailurePolicy policy_;
  HostServices services_;
  FaultLimits limits_;
  Health health_;
  Pace pace_;
  std::unique_ptr<HostSide> host_side_;
  sluice_instance_t* self_ = nullptr;
  const PluginProcess* process_ = nullptr;  // of self_; null: it is inside of the host
  Extensions extensions_;
  bool active_ = false;
  bool off_ = false;
};

}  // namespace sluice::host
