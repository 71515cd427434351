// Sums: what runs come to, by groups.
//
// A window of time counts what lies in it: a start or an end by its moment, quota that was held and
// what was used by the share of the run that lies in it (as if evenly spread, where a run gave back
// or got some quota on its way). So the sums over the days of a month are the sum of the month.
// Belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "host/history/query.hpp"
#include "host/history/run_row.hpp"

namespace sluice::host {

/// The values that make a group, in the order of HistoryQuery::by: a name, a namespace and a queue,
/// an outcome, or the beginning of a time.
struct GroupKey {
  std::array<std::int64_t, kMostGroupings> first{}, second{};
  bool operator==(const GroupKey&) const = default;
};

struct ResourceSum {
  NameId resource = 0;
  double amount_ms = 0;  ///< in the engine's unit
};

struct Sum {
  std::int64_t started = 0, running = 0;
  std::array<std::int64_t, kOutcomes> ended{};  ///< by Outcome
  std::int64_t wait_ms = 0, wait_ms_max = 0;    ///< of those that started, until then
  double run_ms = 0;
  std::vector<ResourceSum> held;
  double cpu_us = 0;              ///< that was used, as far as it is known
  double cpu_milli_ms_known = 0;  ///< held by runs of which that is known
  std::int64_t memory_peak = 0;   ///< of one pod

  void add(const Sum& other);
};

/// What the filters of a query come to in the file's numbers.
struct RowFilter {
  NameId user = 0, queue = 0, cluster_queue = 0, flavor = 0;  ///< 0: any
  bool takes(const RunRow& row) const;
};

class Sums {
 public:
  /// `cpu`: the number of the name "cpu", 0: no run held any. `now`: up to here open runs have
  /// lasted.
  Sums(const HistoryQuery& query, const RowFilter& filter, NameId cpu, Millis now);

  void add(const RunRow& row);
  struct Hash {
    std::size_t operator()(const GroupKey& key) const;
  };
  const std::unordered_map<GroupKey, Sum, Hash>& groups() const { return groups_; }
  /// Runs times the stretches of time over which they were spread: what it took so far.
  std::size_t work() const { return work_; }
  /// Over all runs, each once.
  const Sum& total() const { return total_; }

 private:
  struct Window;
  void add_window(const RunRow& row, const Window& window);
  GroupKey key_of(const RunRow& row, Millis time) const;
  Sum part(const RunRow& row, const Window& window, NameId flavor) const;

  HistoryQuery query_;
  const RowFilter filter_;
  const NameId cpu_;
  const Millis now_;
  std::size_t flavor_place_;  // in query.by; kMostGroupings: it is not grouped by
  std::size_t time_place_;    // likewise
  std::unordered_map<GroupKey, Sum, Hash> groups_;
  Sum total_;
  std::size_t work_ = 0;
};

}  // namespace sluice::host
