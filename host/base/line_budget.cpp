#include "host/base/line_budget.hpp"

namespace sluice::host {

LineBudget::Answer LineBudget::take(std::string_view source, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  auto found = windows_.find(source);
  if (found == windows_.end())
    found = windows_.emplace(std::string(source), Window{.began_ms = now_ms}).first;
  Window& window = found->second;
  Answer out;
  if (now_ms - window.began_ms >= kWindowMs) {
    out.left_out = window.left_out;
    window = {.began_ms = now_ms};
  }
  out.write = window.lines < kLines;
  if (out.write) {
    ++window.lines;
    out.last = window.lines == kLines;
  } else {
    ++window.left_out;
  }
  return out;
}

}  // namespace sluice::host
