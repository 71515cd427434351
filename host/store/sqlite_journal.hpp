// SqliteJournal: a journal in an SQLite database, in PATH/store.db.
//
// Write-ahead log with full synchronisation: a write that returns success survives a power cut. One
// connection, used by one thread at a time. Every row carries a checksum of its texts, and the
// structure of the file is checked while it is loaded. Every error of writing is final, that of
// copying the log into the database among them: what the disk holds is not known any more then, so
// nothing more is written (see docs/store.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/store/folder.hpp"
#include "host/store/journal.hpp"
#include "host/store/sqlite.hpp"

namespace sluice::host {

struct SqliteOptions {
  std::string vfs;                        ///< of SQLite, for tests; empty: the system's
  std::uint32_t checkpoint_pages = 8000;  ///< the log is copied into the database when it has these
};

class SqliteJournal final : public Journal {
 public:
  /// Opens or creates the store at `path`, and holds it against other processes.
  static Result<std::unique_ptr<SqliteJournal>> open(const std::string& path,
                                                     const SqliteOptions& options = {});
  ~SqliteJournal() override;

  Result<JournalState> load(const std::function<void(const JournalRow&)>& take) override;
  Result<void> write(std::span<const JournalRow> rows, std::uint64_t version,
                     std::string_view fields) override;

 private:
  explicit SqliteJournal(StoreFolder folder) : folder_(std::move(folder)) {}
  Result<void> prepare();
  Result<void> write_rows(std::span<const JournalRow> rows, std::string_view fields);
  Result<void> checkpoint();
  struct KindRow {
    std::int64_t id = 0;
    std::string name;
    std::uint64_t version = 0;
    bool dirty = false;  // in the transaction that is open
  };
  KindRow* kind_of(std::string_view name);

  StoreFolder folder_;
  SqliteOptions options_;
  Database database_;
  std::vector<KindRow> kinds_;  // in order of their ids: 1, 2, …
  Statement begin_, commit_, put_, erase_, put_kind_, put_meta_;
  std::uint32_t log_pages_ = 0, next_checkpoint_ = 0;
  bool failed_ = false;
};

/// The format of stores that this program writes.
inline constexpr std::int64_t kStoreFormat = 1;

/// An error unless the open database is a store of a format that is known.
Result<void> check_format(Database& database);
/// Every object of the database. A row that is not what was written is an error, or told to
/// `damaged` and left out.
Result<JournalState> load_rows(Database& database,
                               const std::function<void(const JournalRow&)>& take,
                               const std::function<void(std::string)>& damaged = nullptr);

}  // namespace sluice::host
