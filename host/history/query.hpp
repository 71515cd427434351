// HistoryQuery: a question about the past, as the parameters of a request state it.
//
// A plain value; parsing is pure. Whether the user may know the answer is checked before.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/history/run.hpp"

namespace sluice::host {

enum class GroupBy : std::uint8_t {
  kUser,
  kNamespace,
  kQueue,
  kClusterQueue,
  kFlavor,
  kPriorityClass,
  kOutcome,
  kReason,
  kMinute,
  kTenMinutes,
  kHour,
  kDay,
  kMonth,
};
std::string_view to_text(GroupBy by);
inline bool is_time(GroupBy by) { return by >= GroupBy::kMinute; }
inline constexpr std::size_t kMostGroupings = 4;

/// Instead of the name of a Cohort.
inline constexpr std::string_view kAllCohorts = "*";

struct HistoryQuery {
  std::string ns;  ///< empty: all namespaces
  Millis from = 0;
  Millis to = std::numeric_limits<Millis>::max();  ///< not included
  bool sums = false;                               ///< else the runs themselves
  std::vector<GroupBy> by;                         ///< of sums; empty: one sum of all
  std::string user, queue, cluster_queue, flavor;  ///< empty: any
  std::string cohort;  ///< of quotas: of this Cohort, or of all; empty: those of ClusterQueues
  std::int64_t limit = 500;  ///< of runs
  std::int64_t after = 0;    ///< of runs: where the page before ended
};

/// The values of a parameter of the request; nullptr: it is not there.
using Parameters = std::function<const std::string*(std::string_view name)>;

/// from, to, groupBy, user, queue, clusterQueue, flavor, limit, continue. An error names the
/// parameter, what was found, and what is allowed.
Result<HistoryQuery> parse_query(std::string ns, const Parameters& parameters);

/// The beginning of the minute, hour, day or month (UTC) of a moment.
Millis begin_of(GroupBy time, Millis moment);
/// That of the next one.
Millis end_of(GroupBy time, Millis moment);

/// How many minutes (or tens of them) may lie in the window of one query that groups by them.
inline constexpr std::int64_t kMostSteps = 10'000;
/// Whether the window is short enough for what it is grouped by. `now`: it ends there at the
/// latest.
Result<void> check_window(const HistoryQuery& query, Millis now);

}  // namespace sluice::host
