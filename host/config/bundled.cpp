#include "host/config/bundled.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace sluice::host {
namespace {

struct Brought {
  std::string_view plugin, framework;
};

std::vector<Brought> all_brought() {
  std::vector<Brought> out;
  for (const std::string_view each : words(SLUICE_PLUGIN_FRAMEWORKS, ',')) {
    const std::size_t colon = each.find(':');  // PLUGIN:FRAMEWORK
    out.push_back({each.substr(0, colon), each.substr(colon + 1)});
  }
  return out;
}

}  // namespace

std::vector<std::string> bundled_plugins(const std::vector<std::string>& frameworks) {
  const auto by_default = words(SLUICE_BUNDLED_PLUGINS, ',');
  std::vector<std::string> out(by_default.begin(), by_default.end());
  for (const auto& [plugin, framework] : all_brought()) {
    const bool named =
        std::find(frameworks.begin(), frameworks.end(), framework) != frameworks.end();
    if (named && std::find(out.begin(), out.end(), plugin) == out.end()) out.emplace_back(plugin);
  }
  return out;
}

bool is_brought_by_plugin(std::string_view framework) {
  const auto all = all_brought();
  return std::any_of(all.begin(), all.end(),
                     [&](const Brought& each) { return each.framework == framework; });
}

}  // namespace sluice::host
