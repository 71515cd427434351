#include "host/outbox/spare_rate.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::host {
namespace {

// Of what was answered longer ago not much is known.
constexpr Duration kRemembered = 5 * kSecond;

}  // namespace

void SpareRate::Bucket::spend(Duration now) {
  fill(now);
  left.tokens = std::max(0.0, left.tokens - 1);
}

Duration SpareRate::Bucket::next() const {
  if (per_second <= 0) return kNever;
  const double seconds = std::max(0.0, 1 - left.tokens) / per_second;
  // Rounded up: a clock that stands there finds a whole one.
  return left.filled + static_cast<Duration>(std::ceil(seconds * static_cast<double>(kSecond))) + 1;
}

void SpareRate::answered(Duration now, Duration took) {
  constexpr double kWeight = 0.1;  // of a few answers neither
  if (now - answered_ > kRemembered) took_ = 0;
  answered_ = now;
  took_ += kWeight * (static_cast<double>(took) - took_);
  // What is not filled up is lost: nothing of that time is spared.
  if (quick_from() > 0) shared_.forgo(now);
}

Duration SpareRate::quick_from() const {
  return took_ <= static_cast<double>(quick_) ? 0 : answered_ + kRemembered + 1;
}

bool SpareRate::take(For sort, Duration now) {
  return own_[static_cast<std::size_t>(sort)].take(now) ||
         (quick_from() <= now && shared_.take(now));
}

Duration SpareRate::next(For sort) const {
  return std::min(own_[static_cast<std::size_t>(sort)].next(),
                  std::max(shared_.next(), quick_from()));
}

}  // namespace sluice::host
