#include "host/decide/lease.hpp"

#include <algorithm>

namespace sluice::host {

std::optional<LeaseRecord> LeaseKeeper::saw(const std::optional<LeaseRecord>& record,
                                            Duration now) {
  LeaseRecord out;
  out.holder = identity_;
  out.lasts_seconds = std::max<std::int64_t>(1, times_.lasts / kSecond);
  if (!record) {
    seen_holder_.clear();
    return out;
  }
  if (record->version != seen_version_) {
    seen_version_ = record->version;
    seen_since_ = now;
  }
  seen_holder_ = record->holder;
  out.version = record->version;
  out.transitions = record->transitions;
  out.acquired = record->acquired;
  if (record->holder == identity_) return out;
  // Somebody took it away, as by deleting the object: another decides already.
  if (!record->holder.empty() && holds(now)) held_until_ = now;
  const Duration lasts = std::max<std::int64_t>(1, record->lasts_seconds) * kSecond;
  if (!record->holder.empty() && now - seen_since_ < lasts) return std::nullopt;
  ++out.transitions;
  out.acquired.clear();
  return out;
}

void LeaseKeeper::wrote(Duration asked) {
  seen_holder_ = identity_;
  held_until_ = asked + times_.lasts - times_.margin;
}

}  // namespace sluice::host
