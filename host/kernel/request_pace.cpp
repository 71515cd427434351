#include "host/kernel/request_pace.hpp"

#include <algorithm>

namespace sluice::host {

void RequestPace::forget_those_at_rest(Time now) {
  std::erase_if(looks_, [now](const auto& each) {
    TokenBucket left = each.second.left;
    left.fill(now, kAtOnce, kPerSecond);
    return each.second.due == kNever && left.tokens >= kAtOnce;
  });
  most_ = std::max<std::size_t>(1000, 2 * looks_.size());
}

bool RequestPace::may(const std::string& key, Time now) {
  if (looks_.size() >= most_) forget_those_at_rest(now);
  const auto [it, fresh] = looks_.try_emplace(key);
  Looks& looks = it->second;
  if (fresh) looks.left.filled = now;
  if (looks.due != kNever) return false;
  if (looks.left.take(now, kAtOnce, kPerSecond)) return true;
  looks.due = now + static_cast<Duration>(kSecond / kPerSecond);
  due_.emplace(looks.due, key);
  return false;
}

std::vector<std::string> RequestPace::take_due(Time now) {
  std::vector<std::string> out;
  while (!due_.empty() && next() <= now) {
    out.push_back(due_.begin()->second);
    looks_.at(out.back()).due = kNever;
    due_.erase(due_.begin());
  }
  return out;
}

}  // namespace sluice::host
