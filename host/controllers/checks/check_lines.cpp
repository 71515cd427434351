#include "host/controllers/checks/check_lines.hpp"

#include <iterator>
#include <utility>

namespace sluice::host {
namespace {

/// So many keys leave a line at a time; those that have to wait once more go to its end.
constexpr std::size_t kMostFromLine = 32;

}  // namespace

bool CheckLines::has_to_wait(const std::string& controller, WorkKey key) {
  if (plugins_.pause(controller) == 0) return false;
  Line& line = lines_[controller];
  if (line.keys.insert(key).second) line.order.push_back(std::move(key));
  return true;
}

void CheckLines::serve(std::vector<WorkKey>& keys) {
  for (auto it = lines_.begin(); it != lines_.end();) {
    serve(it->first, it->second, keys);
    it = it->second.order.empty() ? lines_.erase(it) : std::next(it);
  }
}

void CheckLines::serve(const std::string& controller, Line& line, std::vector<WorkKey>& keys) {
  if (plugins_.pause(controller) > 0) {
    if (!line.has_timer) keys.push_back({nullptr, controller, timer_sort_});
    line.has_timer = true;
    return;
  }
  line.has_timer = false;
  for (std::size_t n = 0; n < kMostFromLine && !line.order.empty(); ++n) {
    line.keys.erase(line.order.front());
    keys.push_back(std::move(line.order.front()));
    line.order.pop_front();
  }
}

Time CheckLines::due(const std::string& controller, Time now) const {
  return lines_.contains(controller) ? now + plugins_.pause(controller) : kNever;
}

std::vector<WorkKey> CheckLines::waiting_for(const std::string& controller) const {
  const auto line = lines_.find(controller);
  if (line == lines_.end()) return {};
  return {line->second.order.begin(), line->second.order.end()};
}

}  // namespace sluice::host
