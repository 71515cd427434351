// HistoryFile: the file of runs and quotas, as its writer sees it: an SQLite database.
//
// A transaction holds runs, quotas and the versions of the store up to which changes were read, so
// that what is written once is never counted again. Invariants: of a UID and number there is one
// run; of a ClusterQueue and a moment at most one stretch with its quotas.
// Belongs to one thread; others read the file through connections of their own
// (history_reader.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "host/history/quota.hpp"
#include "host/history/run_log.hpp"
#include "host/history/run_row.hpp"
#include "host/store/sqlite.hpp"

namespace sluice::host {

/// How far the history has read the store.
struct HistoryPlace {
  std::string store;  ///< which one; empty: none yet
  std::uint64_t workloads = 0, pods = 0;
  Millis seen = 0;  ///< when that was
  bool operator==(const HistoryPlace&) const = default;
};

/// The names that rows refer to, as far as they were read.
class HistoryNames {
 public:
  /// Reads those that came since the last call.
  Result<void> read(Database& database);
  /// Empty: there is none of that number.
  const std::string& text(NameId id) const;
  /// 0: it is empty, or not known.
  NameId find(std::string_view text) const;
  void add(NameId id, std::string text);
  std::size_t size() const { return texts_.size(); }

 private:
  std::unordered_map<std::string, NameId> ids_;
  std::unordered_map<NameId, std::string> texts_;
  NameId last_ = 0;
};

class HistoryFile final : public PastRuns {
 public:
  /// Opens it, or makes it.
  static Result<std::unique_ptr<HistoryFile>> open(const std::string& path);

  /// All or nothing, as one transaction.
  Result<void> write(std::span<const Run> runs, const HistoryPlace& place,
                     std::span<const QuotaStretch> quotas = {});
  const HistoryPlace& place() const { return place_; }

  /// What could not be read is reported by the next write().
  std::vector<Run> of(std::string_view uid) override;
  /// (UID, namespace/name) of those that go on.
  Result<std::vector<std::pair<std::string, std::string>>> open_runs();
  /// Those that go on.
  Result<std::vector<QuotaStretch>> open_quotas();

  /// Forgets what ended before `before`, and the oldest while the file holds more than `bytes`: of
  /// runs at most `most` at once, of quotas those that ended before every run that is left. Whether
  /// there is more to forget.
  Result<bool> forget(Millis before, std::int64_t bytes, std::int64_t most);
  /// Forgets names that no run has any more, where there are more than so many. O(runs).
  Result<void> forget_names(std::size_t beyond);
  /// Of what is in it; what was given back is used again.
  Result<std::int64_t> bytes();

 private:
  HistoryFile() = default;
  Result<void> prepare();
  Result<void> read_place();
  Result<void> make_tables();
  Result<void> write_rows(std::span<const Run> runs, const HistoryPlace& place,
                          std::span<const QuotaStretch> quotas);
  Result<void> write_row(const Run& run);
  Result<void> write_quotas(const QuotaStretch& stretch);
  Result<bool> forget_with(const char* statement, Millis before, std::int64_t most);
  Result<void> write_meta(std::string_view key, std::string_view value);
  Result<NameId> id_of(const std::string& name);
  Result<std::vector<Run>> read_runs(std::string_view uid);

  Database database_;
  HistoryNames names_;
  HistoryPlace place_;
  Result<void> read_failure_;
  Statement put_, put_quotas_, of_uid_, put_name_, put_meta_;
};

/// The columns of a run, in the order in which read_row() and read_run() want them.
extern const char* const kRowColumns;
/// The further ones of read_run().
extern const char* const kRunColumns;
void read_row(const Statement& row, RunRow& out);
/// `row` holds kRowColumns, then kRunColumns.
Run read_run(const Statement& row, const HistoryNames& names);

/// The columns of quotas that read_quotas() wants.
extern const char* const kQuotaColumns;
QuotaStretch read_quotas(const Statement& row, const HistoryNames& names);

}  // namespace sluice::host
