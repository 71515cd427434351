#include "host/kernel/fault_retries.hpp"

#include "core/base/backoff.hpp"

namespace sluice::host {
namespace {

constexpr Duration kFirst = 60 * kSecond;
constexpr Duration kLongest = 16 * 60 * kSecond;

}  // namespace

void FaultRetries::note(const std::string& key, Time now) {
  int& tries = tries_[key];
  if (due_.has(key) || tries == kMost) return;
  const Time at = later(now, backoff(kFirst, tries, kLongest));
  ++tries;
  if (at != kNever) due_.set(key, at);
}

void FaultRetries::forget(const std::string& key) {
  due_.erase(key);
  tries_.erase(key);
}

std::vector<std::string> FaultRetries::take_due(Time now) {
  std::vector<std::string> out;
  while (out.size() < kAtOnce) {
    auto key = due_.take_due(now);
    if (!key) break;
    out.push_back(*std::move(key));
  }
  return out;
}

}  // namespace sluice::host
