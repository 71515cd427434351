#include "host/plugins/extensions.hpp"

#include "host/plugins/text_gate.hpp"

namespace sluice::host {
namespace {

constexpr PointInfo kPoints[] = {
#define SLUICE_POINT(member, table, id, name, closed, open) {id, name, closed, open},
#include "host/plugins/hooks.def"
};

#define SLUICE_POINT(member, table, id, name, closed, open) \
  static_assert(std::string_view(id) == name "/1");
#include "host/plugins/hooks.def"

/// Is the function within the table that the plugin has, and not NULL?
template <typename Table, typename Function>
bool has(const Table& table, const Function& function) {
  const auto offset =
      reinterpret_cast<const char*>(&function) - reinterpret_cast<const char*>(&table);
  return static_cast<std::uint64_t>(offset) + sizeof(function) <= table.size && function != nullptr;
}

/// Calls fn(hook, is it there?) for each function of each point that is provided.
template <typename Fn>
void each_function(const Extensions& e, Fn&& fn) {
  struct NoPoint {  // functions of the library itself are found by its root struct
    std::uint32_t size = 0;
    void (*open)() = nullptr;
    void (*create)() = nullptr;
    void (*activate)() = nullptr;
    void (*deactivate)() = nullptr;
    void (*destroy)() = nullptr;
  };
  struct All : Extensions {
    const NoPoint* plugin = nullptr;
  };
  const All all{e};
#define SLUICE_HOOK(hook, point, name, function, thread, need) \
  if (all.point != nullptr) fn(Hook::hook, has(*all.point, all.point->function));
#include "host/plugins/hooks.def"
}

}  // namespace

std::span<const PointInfo> extension_points() { return kPoints; }

std::string_view Extensions::find(const sluice_plugin_t& root, sluice_instance_t* self) {
#define SLUICE_POINT(member, table, id, name, closed, open) \
  member = static_cast<const table*>(root.extension(self, abi_of(id)));
#include "host/plugins/hooks.def"
  std::string_view incomplete;
  each_function(*this, [&](Hook hook, bool there) {
    if (there || info(hook).need == HookNeed::kOptional || !incomplete.empty()) return;
    for (const PointInfo& point : kPoints)
      if (point.name == info(hook).point) incomplete = point.id;
  });
  return incomplete;
}

std::vector<std::string_view> Extensions::ids() const {
  std::vector<std::string_view> ids;
#define SLUICE_POINT(member, table, id, name, closed, open) \
  if (member != nullptr) ids.emplace_back(id);
#include "host/plugins/hooks.def"
  return ids;
}

std::vector<std::string_view> Extensions::functions() const {
  std::vector<std::string_view> names;
  each_function(*this, [&](Hook hook, bool there) {
    if (there) names.push_back(hook_name(hook));
  });
  return names;
}

}  // namespace sluice::host
