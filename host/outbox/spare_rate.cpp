#include "host/outbox/spare_rate.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::host {

void SpareRate::Bucket::fill(Duration now) {
  const double seconds = static_cast<double>(now - filled) / static_cast<double>(kSecond);
  tokens = std::min(most(), tokens + seconds * per_second);
  filled = now;
}

void SpareRate::Bucket::spend(Duration now) {
  fill(now);
  tokens = std::max(0.0, tokens - 1);
}

bool SpareRate::Bucket::take(Duration now) {
  fill(now);
  if (tokens < 1) return false;
  tokens -= 1;
  return true;
}

Duration SpareRate::Bucket::next() const {
  if (per_second <= 0) return kNever;
  const double seconds = std::max(0.0, 1 - tokens) / per_second;
  // Rounded up: a clock that stands there finds a whole one.
  return filled + static_cast<Duration>(std::ceil(seconds * static_cast<double>(kSecond))) + 1;
}

bool SpareRate::take(For sort, Duration now) {
  return own_[static_cast<std::size_t>(sort)].take(now) || shared_.take(now);
}

Duration SpareRate::next(For sort) const {
  return std::min(own_[static_cast<std::size_t>(sort)].next(), shared_.next());
}

}  // namespace sluice::host
