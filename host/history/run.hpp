// Run: one stay of a workload in its queue, from the moment in which it began to wait to the end of
// what came of it: it held quota, ran, and finished, was evicted, or was deleted.
//
// A workload that is evicted and comes back has several, which count from 1. Times are milliseconds
// since 1970; 0: it did not come to that. Invariant: queued <= reserved <= admitted <= ended, as
// far as they are there. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"

namespace sluice::host {

using Millis = std::int64_t;

inline Millis to_millis(Time time) { return time / kMillisecond; }
inline Time from_millis(Millis time) { return time * kMillisecond; }

enum class Outcome : std::uint8_t {
  kGoesOn,    ///< it has not ended
  kFinished,  ///< its job succeeded
  kFailed,    ///< its job failed, or could not be started
  kEvicted,   ///< `reason` says why
  kLost,      ///< its reservation, before it was admitted
  kDeleted,
  kSuperseded,  ///< its job goes on, or is not told of: another took its place, or it was withdrawn
};
inline constexpr std::size_t kOutcomes = 7;
std::string_view to_text(Outcome outcome);

/// Quota that is held: of one resource of one flavor, in the engine's unit. A run can give some of
/// it back, or get more, while it goes on.
struct HeldAmount {
  std::string flavor, resource;
  std::int64_t most = 0;   ///< at any time
  std::int64_t now = 0;    ///< since Run::since
  std::int64_t spent = 0;  ///< until then: the amount times milliseconds
  bool operator==(const HeldAmount&) const = default;
};

/// What its pods used, as far as their processes have ended.
struct UsedAmount {
  std::int64_t pods = 0;  ///< of which it is known; 0: nothing is known
  std::int64_t cpu_us = 0;
  std::int64_t memory_peak = 0;  ///< bytes, of the pod that had most
  bool operator==(const UsedAmount&) const = default;
};

struct Run {
  std::string uid;
  std::int64_t number = 1;
  std::string ns, name;
  std::string job_kind, job;  ///< empty: it has none
  std::string queue;          ///< the LocalQueue
  std::string cluster_queue;  ///< empty: it never got quota
  std::string user;           ///< the creator; empty: not known
  std::string priority_class;
  Millis created = 0, queued = 0, reserved = 0, admitted = 0, ended = 0;
  Millis since = 0;  ///< when what it holds changed last; at first when it was reserved
  Outcome outcome = Outcome::kGoesOn;
  std::string reason;             ///< of the end, as the condition has it
  std::vector<HeldAmount> holds;  ///< in order of flavor and resource
  UsedAmount used;

  bool goes_on() const { return ended == 0; }

  bool operator==(const Run&) const = default;
};

/// From now on it holds these amounts, and no others.
void hold(Run& run, const std::vector<HeldAmount>& amounts, Millis now);

}  // namespace sluice::host
