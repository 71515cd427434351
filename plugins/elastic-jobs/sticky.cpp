#include "sticky.hpp"

#include <algorithm>

namespace elastic {
namespace {

/// Cuts the part before `separator` off the front of `text`.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

std::string sticky_text(const std::vector<StickyPodSet>& pod_sets) {
  std::string out;
  for (const StickyPodSet& set : pod_sets) {
    if (set.flavors.empty()) continue;
    if (!out.empty()) out += ';';
    out += set.name;
    char before = '=';
    for (const std::string& flavor : set.flavors) {
      out += before;
      out += flavor;
      before = ',';
    }
  }
  return out;
}

std::string_view sticky_flavor(std::string_view text, std::string_view pod_set,
                               const std::vector<std::string_view>& offered) {
  while (!text.empty()) {
    std::string_view flavors = next_part(text, ';');
    if (next_part(flavors, '=') != pod_set) continue;
    while (!flavors.empty()) {
      const std::string_view flavor = next_part(flavors, ',');
      if (std::find(offered.begin(), offered.end(), flavor) != offered.end()) return flavor;
    }
  }
  return {};
}

}  // namespace elastic
