// Hook: the functions of a plugin that the host calls, by number, for counters and fault texts.
//
// Plain values; safe on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::host {

enum class Hook : std::uint8_t {
  kFilter,
  kFilterShapeKey,
  kAfterFlavor,
  kBetter,
  kKeepPosition,
  kVeto,
  kTraits,
  kNotify,
  kQueueChanged,
  kTimer,
  kSchema,
  kValidatorKinds,
  kSetDefaults,
  kValidate,
  kPlan,
  kPodGates,
  kPodGrants,
  kCheckControllers,
  kCheckChanged,
  kBeginCheck,
  kCancelCheck,
  kControllerKinds,
  kReconcile,
};

inline constexpr std::size_t kHookCount = 23;

/// `flavor-search.better`: extension point and function.
constexpr std::string_view hook_name(Hook hook) {
  constexpr std::array<std::string_view, kHookCount> kNames = {"flavor-filter.filter",
                                                               "flavor-filter.shape_key",
                                                               "flavor-search.after_flavor",
                                                               "flavor-search.better",
                                                               "flavor-search.keep_position",
                                                               "preemption-veto.veto",
                                                               "workload-traits.traits",
                                                               "post-admit.notify",
                                                               "queue-watch.queue_changed",
                                                               "timers.fired",
                                                               "schema.contribute",
                                                               "validator.kinds",
                                                               "validator.set_defaults",
                                                               "validator.validate",
                                                               "job-mapping.plan",
                                                               "pod-gate.gates",
                                                               "pod-gate.granted",
                                                               "check-controller.controllers",
                                                               "check-controller.check_changed",
                                                               "check-controller.begin",
                                                               "check-controller.cancel",
                                                               "controller.kinds",
                                                               "controller.reconcile"};
  return kNames[static_cast<std::size_t>(hook)];
}

/// Called from the workers of a scheduling cycle: the short budget applies.
constexpr bool is_cycle_hook(Hook hook) {
  return hook == Hook::kFilter || hook == Hook::kAfterFlavor || hook == Hook::kBetter ||
         hook == Hook::kKeepPosition || hook == Hook::kVeto;
}

}  // namespace sluice::host
