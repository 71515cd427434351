// QuotaStretch: a stretch of time in which the quotas of a ClusterQueue or Cohort were the same.
//
// Plain values and pure functions; any thread. Times are milliseconds since 1970. A queue that is
// gone has no stretch; one without quotas has one that holds none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Before the name of a Cohort, where a name may be either's: a name has no slash.
inline constexpr std::string_view kCohortMark = "Cohort/";
inline bool is_of_cohort(std::string_view name) { return name.starts_with(kCohortMark); }

struct QuotaStretch {
  std::string holder;  ///< the name of a ClusterQueue; of a Cohort, the mark and its name
  Millis since = 0;
  Millis until = 0;  ///< 0: they still are so
  Quotas quotas;     ///< in the order of the queue's spec
  bool operator==(const QuotaStretch&) const = default;
};

Quotas quotas_of(const StoredObject& object, bool of_cohort);

/// Since when the spec of an object is what it is, as far as that is known: its creation where it
/// was never changed; else 0.
Millis unchanged_since(const StoredObject& object);

}  // namespace sluice::host
