// SqliteJournal: the Journal on disk: an SQLite database, in PATH/store.db.
//
// Write-ahead log with full synchronisation: a write that returns success survives a power cut. One
// connection, used by one thread at a time. Every row carries a checksum of its texts, every
// transaction a seal over all rows (seal.hpp), and the structure of the file is checked while it is
// loaded: what is read is what was acknowledged, or the store is refused. A copy that is opened in
// the place of a store begins with a version that the store never had. Every error of writing is
// final, that of copying the log into the database among them: what the disk holds is not known any
// more then, so nothing more is written (see docs/store.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/store/folder.hpp"
#include "host/store/journal.hpp"
#include "host/store/seal.hpp"
#include "host/store/sqlite.hpp"

namespace sluice::host {

struct SqliteOptions {
  std::string vfs;                        ///< of SQLite, for tests; empty: the system's
  std::uint32_t checkpoint_pages = 8000;  ///< the log is copied into the database when it has these
  /// Of the disk, for deletions; no_room() when there is less. Negative: a twentieth of the disk,
  /// at most 64 MiB.
  std::int64_t keep_free = -1;
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
  std::string no_room() const override;

  // ---- between load() and the first write(), for an EncryptedJournal
  /// Whether rows of it may be encrypted: older programs refuse such a store. When that becomes so,
  /// a scrub is due.
  Result<void> set_encrypted(bool encrypted);
  /// What is overwritten from now on is not to be left in free pages or in the log.
  Result<void> scrub_later();
  /// Writes the whole database anew and empties the log, when that is due. It goes on to be due
  /// while somebody reads an old state, a backup for example.
  Result<void> scrub_if_due();

 private:
  explicit SqliteJournal(StoreFolder folder) : folder_(std::move(folder)) {}
  Result<void> prepare(bool empty);
  Result<JournalState> load_all(const std::function<void(const JournalRow&)>& take,
                                const std::optional<Seal>& mark);
  Result<void> prepare_statements();
  Result<void> start_sealing();
  Result<void> leave_the_copied();
  Result<void> write_rows(std::span<const JournalRow> rows, std::string_view fields);
  Result<void> write_row(const JournalRow& row);
  Result<void> write_kinds();
  Result<void> write_seal();
  Result<void> write_meta(std::string_view name, std::string_view value);
  Result<void> checkpoint();
  void reserve_log() const;
  struct KindRow {
    std::int64_t id = 0;
    std::string name;
    bool dirty = false;  // in the transaction that is open
  };
  KindRow* kind_of(std::string_view name);

  StoreFolder folder_;
  SqliteOptions options_;
  Database database_;
  std::vector<KindRow> kinds_;  // in order of their ids: 1, 2, …
  // What the database holds, with the transaction that is open.
  JournalState state_;
  Seal seal_;
  std::uint64_t sum_ = 0;  // over the rows' checksums
  Mark mark_;
  Statement begin_, commit_, put_, erase_, put_kind_, put_meta_;
  std::uint32_t log_pages_ = 0, next_checkpoint_ = 0;
  bool failed_ = false;
};

}  // namespace sluice::host
