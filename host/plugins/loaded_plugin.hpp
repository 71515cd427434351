// LoadedPlugin: one instance of one plugin, and the only way in which the host calls it.
//
// call() is the boundary: it measures, counts, catches what the plugin's own guard let through, and
// turns a bad answer into a fault. No lock is held inside. [cycle] hooks may be called from many
// threads; everything else by one thread at a time (the host's control thread).
#pragma once

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
#include "host/plugins/health.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/pace.hpp"
#include "sluice/ext/check_controller.h"
#include "sluice/ext/controller.h"
#include "sluice/ext/flavor_filter.h"
#include "sluice/ext/flavor_search.h"
#include "sluice/ext/job_mapping.h"
#include "sluice/ext/pod_gate.h"
#include "sluice/ext/post_admit.h"
#include "sluice/ext/preemption_veto.h"
#include "sluice/ext/queue_watch.h"
#include "sluice/ext/schema.h"
#include "sluice/ext/timers.h"
#include "sluice/ext/validator.h"
#include "sluice/ext/workload_traits.h"

namespace sluice::host {

/// What a plugin provides; null: it does not.
struct Extensions {
  const sluice_flavor_filter_t* filter = nullptr;
  const sluice_flavor_search_t* search = nullptr;
  const sluice_preemption_veto_t* veto = nullptr;
  const sluice_workload_traits_t* traits = nullptr;
  const sluice_post_admit_t* post_admit = nullptr;
  const sluice_queue_watch_t* queue_watch = nullptr;
  const sluice_timers_t* timers = nullptr;
  const sluice_schema_t* schema = nullptr;
  const sluice_validator_t* validator = nullptr;
  const sluice_job_mapping_t* job_mapping = nullptr;
  const sluice_pod_gate_t* pod_gate = nullptr;
  const sluice_check_controller_t* check_controller = nullptr;
  const sluice_controller_t* controller = nullptr;

  std::vector<std::string_view> ids() const;
};

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

  Result<void> activate();
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

  /// Answer that a call's fn returns when the plugin said OK but its output makes no sense.
  static constexpr std::int32_t kNonsense = std::numeric_limits<std::int32_t>::min();

  /// Calls fn() → code. `fault` is written only when the answer is kClosed.
  template <typename Fn>
  Answer call(Hook hook, hooks::Fault& fault, Fn&& fn) {
    if (off_) [[unlikely]]
      return Answer::kOpen;
    if (health_.quarantined()) [[unlikely]]
      return refuse_quarantined(fault);
    const PluginClock& clock = *services_.clock;
    const Duration start = clock.steady();
    const bool alone = !is_cycle_hook(hook);
    if (alone) health_.begin_call(hook, start);
    std::int32_t code = SLUICE_FAILED;
    try {
      code = fn();
    } catch (...) {
      if (alone) health_.end_call();
      return finish_thrown(hook, clock.steady() - start, fault);
    }
    if (alone) health_.end_call();
    const Duration took = clock.steady() - start;
    health_.count(hook, took);
    const Duration budget = is_cycle_hook(hook) ? limits_.cycle_budget : limits_.control_budget;
    if (code == SLUICE_OK && took <= budget) [[likely]]
      return Answer::kOk;
    return finish_unusual(hook, code, took, budget, fault);
  }

  /// As call(), for hooks in which the plugin may write objects: what it wrote takes effect when
  /// the answer is kOk, and never was when it is another.
  template <typename Fn>
  Answer call_writing(Hook hook, hooks::Fault& fault, Fn&& fn) {
    const Duration began = services_.clock->steady();
    host_side_->begin_call();
    const Answer answer = call(hook, fault, std::forward<Fn>(fn));
    pace_.spent(began, services_.clock->steady());
    const Result<void> written = host_side_->end_call(answer == Answer::kOk);
    return written ? answer : finish_fault(hook, written.error().text, fault);
  }

  /// How long call_writing() should wait, so that others have their turn; 0: not at all.
  Duration pause() const { return pace_.pause(services_.clock->steady()); }

 private:
  LoadedPlugin(const sluice_plugin_t& root, const PluginConfig& config,
               const HostServices& services, const FaultLimits& limits);
  Result<void> find_extensions();
  Answer refuse_quarantined(hooks::Fault& fault) const;
  Answer finish_thrown(Hook hook, Duration took, hooks::Fault& fault) noexcept;
  Answer finish_unusual(Hook hook, std::int32_t code, Duration took, Duration budget,
                        hooks::Fault& fault);
  Answer finish_fault(Hook hook, const std::string& what, hooks::Fault& fault);
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
  Extensions extensions_;
  bool active_ = false;
  bool off_ = false;
};

}  // namespace sluice::host
