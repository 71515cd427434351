#include "host/rest/accept.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kMostRanges = 32;

/// Up to `separator`; `rest` becomes what is behind it.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view out = trim(rest.substr(0, end), " \t");
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return out;
}

}  // namespace

std::string_view MediaRange::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

bool MediaRange::covers(std::string_view media) const {
  if (type == "*/*" || type == media) return true;
  return type.ends_with("/*") && media.starts_with(type.substr(0, type.size() - 1));
}

std::vector<MediaRange> parse_accept(std::string_view header) {
  std::vector<MediaRange> out;
  while (!header.empty() && out.size() < kMostRanges) {
    std::string_view entry = take(header, ',');
    MediaRange range;
    range.type = take(entry, ';');
    while (!entry.empty()) {
      std::string_view parameter = take(entry, ';');
      const std::string_view name = take(parameter, '=');
      range.parameters.emplace_back(name, parameter);
    }
    if (!range.type.empty()) out.push_back(std::move(range));
  }
  if (out.empty()) out.push_back({"*/*", {}});
  return out;
}

}  // namespace sluice::host
