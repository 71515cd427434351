#include "host/executor/pod_variables.hpp"

namespace sluice::host {

bool PodVariables::set(std::string name, std::string value) {
  const auto [place, fresh] = places_.try_emplace(name, list_.size());
  const std::size_t before = fresh ? 0 : list_[place->second].second.size();
  const std::size_t after = bytes_ - before + value.size() + (fresh ? name.size() : 0);
  if (after > kMostBytes) {
    if (fresh) places_.erase(place);
    return false;
  }
  bytes_ = after;
  if (fresh)
    list_.emplace_back(std::move(name), std::move(value));
  else
    list_[place->second].second = std::move(value);
  return true;
}

const std::string* PodVariables::find(std::string_view name) const {
  const auto place = places_.find(std::string(name));
  return place == places_.end() ? nullptr : &list_[place->second].second;
}

std::optional<std::string> PodVariables::expand(std::string_view text, std::size_t most) const {
  std::string out;
  for (std::size_t at = 0; at < text.size() && out.size() <= most;) {
    const std::size_t dollar = text.find('$', at);
    if (dollar == std::string_view::npos || dollar + 1 == text.size()) {
      out += text.substr(at);
      break;
    }
    out += text.substr(at, dollar - at);
    const std::size_t end = text[dollar + 1] == '(' ? text.find(')', dollar) : std::string::npos;
    if (text[dollar + 1] == '$') {
      out += '$';
      at = dollar + 2;
    } else if (end != std::string_view::npos) {
      const std::string* value = find(text.substr(dollar + 2, end - dollar - 2));
      out += value ? std::string_view(*value) : text.substr(dollar, end + 1 - dollar);
      at = end + 1;
    } else {
      out += '$';
      at = dollar + 1;
    }
  }
  if (out.size() > most) return std::nullopt;
  return out;
}

}  // namespace sluice::host
