#include "host/kernel/request_pace.hpp"

#include <algorithm>

namespace sluice::host {

void RequestPace::forget_those_at_rest(Time now) {
  std::erase_if(looks_, [now](const auto& each) {
    TokenBucket left = each.second;
    left.fill(now, kAtOnce, kPerSecond);
    return left.tokens >= kAtOnce;
  });
  most_ = std::max<std::size_t>(1000, 2 * looks_.size());
}

bool RequestPace::may(const std::string& key, Time now) {
  if (due_.has(key)) return false;
  if (looks_.size() >= most_) forget_those_at_rest(now);
  TokenBucket& left = looks_.try_emplace(key, TokenBucket{kAtOnce, now}).first->second;
  if (left.take(now, kAtOnce, kPerSecond)) return true;
  due_.set(key, now + static_cast<Duration>(kSecond / kPerSecond));
  return false;
}

std::vector<std::string> RequestPace::take_due(Time now) {
  std::vector<std::string> out;
  while (auto key = due_.take_due(now)) out.push_back(*std::move(key));
  return out;
}

}  // namespace sluice::host
