#include "host/kernel/fault_retries.hpp"

#include "core/base/backoff.hpp"

namespace sluice::host {
namespace {

constexpr Duration kFirst = 60 * kSecond;
constexpr Duration kLongest = 16 * 60 * kSecond;

}  // namespace

void FaultRetries::note(const std::string& key, Time now) {
  Wait& wait = waits_[key];
  if (wait.due != kNever || wait.tries == kMost) return;
  wait.due = later(now, backoff(kFirst, wait.tries, kLongest));
  ++wait.tries;
  if (wait.due != kNever) due_.emplace(wait.due, key);
}

void FaultRetries::forget(std::string_view key) {
  const auto it = waits_.find(key);
  if (it == waits_.end()) return;
  due_.erase({it->second.due, it->first});
  waits_.erase(it);
}

std::vector<std::string> FaultRetries::take_due(Time now) {
  std::vector<std::string> out;
  while (!due_.empty() && next() <= now && out.size() < kAtOnce) {
    out.push_back(due_.begin()->second);
    waits_[out.back()].due = kNever;
    due_.erase(due_.begin());
  }
  return out;
}

}  // namespace sluice::host
