// Hook: the functions of a plugin that the host calls, by number, for counters and fault texts; and
// what is known of each and of the extension points, from hooks.def.
//
// Plain values; safe on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace sluice::host {

enum class Hook : std::uint8_t {
#define SLUICE_HOOK(hook, point, name, function, thread, need) hook,
#include "host/plugins/hooks.def"
};

enum class HookThread : std::uint8_t { kLoad, kControl, kCycle };
enum class HookNeed : std::uint8_t { kRequired, kOptional };

struct HookInfo {
  std::string_view point;  ///< `flavor-search`
  std::string_view name;   ///< `flavor-search.better`
  HookThread thread;
  HookNeed need;
};

inline constexpr HookInfo kHooks[] = {
#define SLUICE_HOOK(hook, point, name, function, thread, need) \
  {name, name "." #function, HookThread::thread, HookNeed::need},
#include "host/plugins/hooks.def"
};

inline constexpr std::size_t kHookCount = std::size(kHooks);

struct PointInfo {
  std::string_view id;            ///< `flavor-search/1`
  std::string_view name;          ///< without the version
  std::string_view closed, open;  ///< what stands in for a plugin that faults
};

constexpr const HookInfo& info(Hook hook) { return kHooks[static_cast<std::size_t>(hook)]; }

/// `flavor-search.better`: extension point and function.
constexpr std::string_view hook_name(Hook hook) { return info(hook).name; }

/// Called from the workers of a scheduling cycle: the short budget applies.
constexpr bool is_cycle_hook(Hook hook) { return info(hook).thread == HookThread::kCycle; }

}  // namespace sluice::host
