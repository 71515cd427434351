// RunRow: a run as it stands in the file: names as numbers, amounts as a few bytes.
//
// A query that looks at a million runs looks at rows. Plain values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/history/run.hpp"

namespace sluice::host {

/// The number of a name in the file; 0: the empty one.
using NameId = std::int64_t;

struct HeldRow {
  NameId flavor = 0, resource = 0;
  std::int64_t most = 0, now = 0, spent = 0;
};

struct RunRow {
  NameId ns = 0, queue = 0, cluster_queue = 0, user = 0, priority_class = 0, reason = 0;
  Millis queued = 0, reserved = 0, admitted = 0, ended = 0, since = 0;
  Outcome outcome = Outcome::kGoesOn;
  std::vector<HeldRow> holds;
  UsedAmount used;
};

/// The amount times milliseconds that was held until `now`, or until the run ended.
double held_in_all(const RunRow& run, const HeldRow& of, Millis now);

std::string pack_holds(const std::vector<HeldRow>& holds);
/// What cannot be read is left out.
void unpack_holds(std::string_view bytes, std::vector<HeldRow>& into);

/// A UUID as 16 bytes, any other UID as more or fewer.
std::string pack_uid(std::string_view uid);
std::string unpack_uid(std::string_view bytes);

}  // namespace sluice::host
