// QuotaStretch: a stretch of time in which the quotas of a ClusterQueue were the same.
//
// Plain values and pure functions; any thread. Times are milliseconds since 1970. A queue that is
// gone has no stretch; one without quotas has one that holds none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/history/run.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

/// Amounts in the engine's unit.
struct QuotaAmount {
  std::string flavor, resource;
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing_limit;  ///< absent: unlimited
  std::optional<std::int64_t> lending_limit;    ///< absent: all of it
  bool operator==(const QuotaAmount&) const = default;
};
using Quotas = std::vector<QuotaAmount>;

struct QuotaStretch {
  std::string cluster_queue;
  Millis since = 0;
  Millis until = 0;  ///< 0: they still are so
  Quotas quotas;     ///< in the order of the queue's spec
  bool operator==(const QuotaStretch&) const = default;
};

Quotas quotas_of(const StoredObject& cluster_queue);

/// Since when the spec of an object is what it is, as far as that is known: its creation where it
/// was never changed; else 0.
Millis unchanged_since(const StoredObject& object);

}  // namespace sluice::host
