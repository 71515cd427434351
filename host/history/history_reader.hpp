// HistoryReader: answers queries from the file, on a connection of its own that only reads.
//
// What one query may cost is bounded: a time in which it has to be through, and a number of groups
// or runs in the answer. Belongs to one thread.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/history/history_file.hpp"
#include "host/history/query.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

struct HistoryReadLimits {
  std::chrono::milliseconds time{15'000};  ///< 504 beyond it
  std::size_t groups = 10'000;             ///< 400 beyond it
  std::size_t stretches = 10'000;          ///< of quotas; 400 beyond it
};

class HistoryReader {
 public:
  /// The file exists.
  static Result<std::unique_ptr<HistoryReader>> open(const std::string& path,
                                                     HistoryReadLimits limits = {});

  /// A RunSummary or a RunList, see docs/history.md. `now`: what goes on has lasted until then.
  ApiResult<boost::json::object> answer(const HistoryQuery& query, Millis now);

  /// A QuotaHistory: the quotas of all ClusterQueues, or of that of the query, in its time.
  ApiResult<boost::json::object> quotas(const HistoryQuery& query);

  /// How long the latest runs took that succeeded, by `namespace/queue`; of each queue so many at
  /// most, out of the latest `rows` of the file.
  Result<std::map<std::string, std::vector<Duration>>> run_times(std::size_t rows,
                                                                 std::size_t of_queue);

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  HistoryReader() = default;
  ApiResult<boost::json::object> of_one_moment(
      const std::function<ApiResult<boost::json::object>()>& read);
  ApiResult<boost::json::object> sums(const HistoryQuery& query, Millis now, Deadline deadline);
  ApiResult<boost::json::object> runs(const HistoryQuery& query, Millis now, Deadline deadline);

  Database database_;
  HistoryNames names_;
  HistoryReadLimits limits_;
};

}  // namespace sluice::host
