#include "host/kube/watch_lines.hpp"

namespace sluice::host {

bool WatchLines::add(std::string_view piece, const std::function<bool(std::string_view)>& take) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (rest_.size() + part.size() > longest_) {
      too_long_ = true;
      return false;
    }
    if (end == std::string_view::npos) {
      rest_ += part;
      return true;
    }
    piece.remove_prefix(end + 1);
    if (rest_.empty()) {
      if (!part.empty() && !take(part)) return false;
      continue;
    }
    rest_ += part;
    std::string line;
    line.swap(rest_);
    if (!take(line)) return false;
  }
  return true;
}

}  // namespace sluice::host
