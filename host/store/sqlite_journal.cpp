#include "host/store/sqlite_journal.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "host/base/fd.hpp"
#include "host/base/log.hpp"
#include "host/base/wall_clock.hpp"
#include "host/store/sqlite_rows.hpp"

namespace sluice::host {
namespace {

// While the disk is nearly full the log is copied when it has so many, which stays within what was
// reserved for it.
constexpr std::uint32_t kScarcePages = 500;

constexpr std::string_view kScrub = "scrub", kDue = "due";  // in the table `meta`

int keep_log_pages(void* pages, sqlite3* /*database*/, const char* /*name*/, int count) {
  *static_cast<std::uint32_t*>(pages) = static_cast<std::uint32_t>(count);
  return SQLITE_OK;
}

bool has_content(const std::string& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 && info.st_size > 0;
}

}  // namespace

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(const std::string& path,
                                                           const SqliteOptions& options) {
  auto folder = StoreFolder::open(path);
  if (!folder) return folder.error();
  const std::string file = StoreFolder::database(folder->path());
  // Asked before SQLite sees it, which removes a log beside an empty database.
  const bool empty = !has_content(file);
  if (empty) {
    if (auto fresh = StoreFolder::check_fresh(folder->path()); !fresh) return fresh.error();
    if (has_content(file + "-wal"))
      return Error{file + ": is empty or missing, but its log " + file +
                   "-wal is there: go back to a backup"};
  }
  if (auto made = create_private_file(file); !made) return made.error();
  auto database = Database::open(file, Database::Mode::kWrite, options.vfs);
  if (!database) return database.error();

  std::unique_ptr<SqliteJournal> out(new SqliteJournal(std::move(folder).value()));
  out->options_ = options;
  out->next_checkpoint_ = options.checkpoint_pages;
  out->database_ = std::move(database).value();
  if (auto ready = out->prepare(empty); !ready) {
    out->database_.leave_log();
    return ready.error().context(file);
  }
  return out;
}

SqliteJournal::~SqliteJournal() = default;

Result<void> SqliteJournal::prepare(bool empty) {
  // Until everything is read, the file is read in place; writing goes on without.
  if (auto set = database_.execute("PRAGMA mmap_size = 4294967296"); !set) return set;
  const auto tables = database_.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (*tables != 0) {
    if (auto known = check_format(database_); !known) return known;
  } else if (!empty) {  // its tables were in the log
    if (auto fresh = StoreFolder::check_fresh(folder_.path()); !fresh) return fresh;
  }

  // EXTRA is FULL, and syncs the folder when the journal of a first start, before there is a
  // write-ahead log, is removed: a power cut must not bring that journal back.
  for (const char* setting : {"PRAGMA synchronous = EXTRA", "PRAGMA cache_size = -8192",
                              "PRAGMA cell_size_check = ON", "PRAGMA trusted_schema = OFF"})
    if (auto set = database_.execute(setting); !set) return set;
  const auto mode = database_.text("PRAGMA journal_mode = WAL");
  if (!mode) return mode.error();
  if (*mode != "wal") return Error{"this file system cannot hold a write-ahead log"};
  sqlite3_wal_hook(database_.handle(), keep_log_pages, &log_pages_);
  if (*tables == 0) return create_tables(database_);
  return {};
}

Result<JournalState> SqliteJournal::load(const std::function<void(const JournalRow&)>& take) {
  const auto mark = Mark::read(StoreFolder::mark(folder_.path()));
  if (!mark) return mark.error();
  auto out = load_all(take, *mark);
  if (out) return out;
  // What SQLite does not find in a damaged log may still be in it.
  database_.leave_log();
  return out.error().context(StoreFolder::database(folder_.path()));
}

namespace {

struct Structure {
  Result<void> whole;
  Result<std::uint64_t> index = 0;
};

Structure structure_of(Database& database) {
  Structure out;
  out.whole = check_structure(database);
  if (out.whole.ok()) out.index = index_sum(database);
  return out;
}

Structure structure_of(const std::string& file) {
  auto database = Database::open(file, Database::Mode::kRead);
  if (!database) return {database.error()};
  if (auto set = database->execute("PRAGMA mmap_size = 4294967296"); !set) return {set};
  return structure_of(*database);
}

}  // namespace

// The pages are checked on a connection of its own while the rows are read; a VFS of a test is used
// by one thread.
Result<JournalState> SqliteJournal::load_all(const std::function<void(const JournalRow&)>& take,
                                             const std::optional<Seal>& mark) {
  Structure structure;
  std::thread checker;
  if (options_.vfs.empty())
    checker = std::thread([&] { structure = structure_of(StoreFolder::database(folder_.path())); });
  else
    structure = structure_of(database_);
  auto rows = load_rows(database_, take);
  if (checker.joinable()) checker.join();
  if (!structure.whole) return structure.whole.error();
  if (!rows) return rows.error();
  if (auto found = check_index(*rows, structure.index); !found) return found.error();
  if (mark)
    if (auto kept = check_against_mark(rows->seal, *mark); !kept) return kept.error();
  state_ = rows->state;
  seal_ = rows->seal;
  sum_ = rows->sum;
  auto kinds = database_.prepare("SELECT id, name FROM kinds ORDER BY id");
  if (!kinds) return kinds.error();
  Result<bool> row = true;
  while ((row = kinds->step()).ok() && *row)
    kinds_.push_back({kinds->integer(0), std::string(kinds->text(1)), false});
  if (!row) return row.error();
  if (auto set = database_.execute("PRAGMA mmap_size = 0"); !set) return set.error();
  if (auto prepared = prepare_statements(); !prepared) return prepared.error();
  if (auto sealed = start_sealing(); !sealed) return sealed.error();
  if (auto left = leave_the_copied(); !left) return left.error();
  return state_;
}

Result<void> SqliteJournal::prepare_statements() {
  // A row is only changed when it is what it should be: the seal counts on it.
  const std::pair<Statement*, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&put_,
       "INSERT INTO objects (kind, key, version, checksum, metadata, body, status, hidden)"
       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (kind, key) DO UPDATE SET"
       " version = ?3, checksum = ?4, metadata = ?5, body = ?6, status = ?7, hidden = ?8"
       " WHERE checksum = ?9"},
      {&erase_, "DELETE FROM objects WHERE kind = ?1 AND key = ?2 AND checksum = ?3"},
      {&put_kind_,
       "INSERT INTO kinds (id, name, version) VALUES (?1, ?2, ?3)"
       " ON CONFLICT (id) DO UPDATE SET version = ?3"},
      {&put_meta_,
       "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = "
       "?2"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = std::move(prepared).value();
  }
  return {};
}

// A store of format 1 has no seal yet; and the mark may be of before a power cut, or missing after
// a backup was put in place.
Result<void> SqliteJournal::start_sealing() {
  const auto format = database_.integer("PRAGMA user_version");
  if (!format) return format.error();
  if (*format < kStoreFormat) {
    const std::string version = "PRAGMA user_version = " + std::to_string(kStoreFormat);
    Result<void> done = begin_.run();
    if (done.ok()) done = write_seal();
    if (done.ok()) done = database_.execute(version.c_str());
    if (done.ok()) done = commit_.run();
    if (!done) return done;
  }
  auto mark = Mark::open(StoreFolder::mark(folder_.path()), seal_);
  if (!mark) return mark.error();
  mark_ = std::move(*mark);
  reserve_log();
  return {};
}

// The store that was copied went on, up to a version that nobody knows here, and told clients of
// it. So that none of its versions is given again for something else, a copy goes on from the time
// of day in microseconds: the store had at most as many, because it began with 1 or with an earlier
// time, and makes fewer than one a microsecond. Whoever comes with a version of before is told to
// list anew. What stood in its place is known where `sluice store restore` put it there: it goes on
// behind that, too, whose clock may have been ahead.
Result<void> SqliteJournal::leave_the_copied() {
  const auto copied = database_.text(
      "SELECT coalesce(max(CAST(value AS INTEGER)), -1) FROM meta WHERE name = 'copy'");
  if (!copied) return copied.error();
  if (*copied == "-1") return {};
  const std::uint64_t given = std::strtoull(copied->c_str(), nullptr, 10);
  const auto time = static_cast<std::uint64_t>(std::max<Time>(0, wall_clock())) / 1000;
  if (time <= state_.version && given == 0)
    log(LogLevel::kWarning, "store",
        "the clock is behind the backup that was put in place: clients that saw what came after "
        "the backup may miss changes until they are started anew");
  JournalRow row;
  row.kind = kEveryKind;
  row.version = std::max({state_.version + 1, given + 1, time});
  row.deleted = true;
  Result<void> done = begin_.run();
  if (done.ok()) done = write_rows({&row, 1}, {});
  if (done.ok()) done = database_.execute("DELETE FROM meta WHERE name = 'copy'");
  if (done.ok()) done = commit_.run();
  if (done.ok()) done = mark_.set(seal_);
  if (done.ok())
    log(LogLevel::kInfo, "store",
        "a backup was put in place: it goes on from version " + std::to_string(row.version) +
            ", and clients list anew");
  return done;
}

Result<void> SqliteJournal::write(std::span<const JournalRow> rows, std::uint64_t /*version*/,
                                  std::string_view fields) {
  const std::string file = StoreFolder::database(folder_.path());
  if (failed_) return Error{file + ": an earlier write failed"};
  Result<void> done = checkpoint();
  if (done.ok()) done = begin_.run();
  if (done.ok()) done = write_rows(rows, fields);
  if (done.ok()) done = commit_.run();
  if (done.ok()) done = mark_.set(seal_);
  if (done.ok()) return done;
  failed_ = true;
  database_.leave_log();
  return done.error().context(file);
}

Result<void> SqliteJournal::write_rows(std::span<const JournalRow> rows, std::string_view fields) {
  for (const JournalRow& row : rows)
    if (auto done = write_row(row); !done)
      return done.error().context(std::string(row.kind) + " " + std::string(row.key));
  if (auto done = write_kinds(); !done) return done;
  if (!fields.empty()) {
    state_.fields = fields;
    if (auto done = write_meta("fields", fields); !done) return done;
  }
  return write_seal();
}

Result<void> SqliteJournal::write_row(const JournalRow& row) {
  KindRow* kind = kind_of(row.kind);
  kind->dirty = true;
  std::uint64_t& last = state_.kinds[kind->name];
  last = std::max(last, row.version);
  state_.version = std::max(state_.version, row.version);
  if (row.deleted && !row.replaces) return {};  // came and went within the transaction
  const std::uint64_t checksum = row.deleted ? 0 : row_checksum(row);
  sum_ += checksum - row.replaces.value_or(0);
  if (!row.deleted) ++seal_.objects;
  if (row.replaces) --seal_.objects;

  Statement& statement = row.deleted ? erase_ : put_;
  statement.bind(1, kind->id);
  statement.bind(2, row.key);
  if (row.deleted) {
    statement.bind(3, static_cast<std::int64_t>(*row.replaces));
  } else {
    statement.bind(3, static_cast<std::int64_t>(row.version));
    statement.bind(4, static_cast<std::int64_t>(checksum));
    statement.bind(5, row.metadata);
    statement.bind(6, row.body);
    statement.bind(7, row.status);
    statement.bind(8, row.hidden);
    if (row.replaces)
      statement.bind(9, static_cast<std::int64_t>(*row.replaces));
    else
      statement.bind_nothing(9);
  }
  if (auto done = statement.run(); !done) return done;
  if (database_.changed() != 1)
    return Error{"the database does not hold what was written before: it is damaged"};
  return {};
}

Result<void> SqliteJournal::write_kinds() {
  for (KindRow& kind : kinds_) {
    if (!std::exchange(kind.dirty, false)) continue;
    put_kind_.bind(1, kind.id);
    put_kind_.bind(2, kind.name);
    put_kind_.bind(3, static_cast<std::int64_t>(state_.kinds[kind.name]));
    if (auto done = put_kind_.run(); !done) return done;
  }
  return {};
}

Result<void> SqliteJournal::write_seal() {
  ++seal_.commits;
  seal_.version = state_.version;
  seal_.digest = digest_of(sum_, state_.kinds, state_.fields);
  return write_meta("seal", to_text(seal_));
}

Result<void> SqliteJournal::write_meta(std::string_view name, std::string_view value) {
  put_meta_.bind(1, name);
  put_meta_.bind(2, value);
  return put_meta_.run();
}

Result<void> SqliteJournal::set_encrypted(bool encrypted) {
  const std::int64_t wanted = encrypted ? kEncryptedFormat : kStoreFormat;
  const auto format = database_.integer("PRAGMA user_version");
  if (!format) return format.error();
  if (*format == wanted) return {};
  const std::string set = "PRAGMA user_version = " + std::to_string(wanted);
  Result<void> done = begin_.run();
  if (done.ok() && encrypted) done = write_meta(kScrub, kDue);
  if (done.ok()) done = database_.execute(set.c_str());
  if (done.ok()) done = commit_.run();
  return done;
}

Result<void> SqliteJournal::scrub_later() { return write_meta(kScrub, kDue); }

Result<void> SqliteJournal::scrub_if_due() {
  const auto due = database_.text("SELECT value FROM meta WHERE name = 'scrub'");
  if (!due) return due.error();
  if (*due != kDue) return {};
  if (auto done = database_.execute("VACUUM"); !done) return done;
  int pages = 0, copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(database_.handle(), nullptr,
                                             SQLITE_CHECKPOINT_TRUNCATE, &pages, &copied);
  if (code == SQLITE_BUSY) {
    log(LogLevel::kWarning, "store",
        "Secrets may still lie in plain in the log, because somebody reads the store: start again "
        "when that is done");
    return {};
  }
  if (code != SQLITE_OK) return last_error(database_);
  reserve_log();
  log_pages_ = 0;
  return write_meta(kScrub, "done");
}

SqliteJournal::KindRow* SqliteJournal::kind_of(std::string_view name) {
  const auto it = std::find_if(kinds_.begin(), kinds_.end(),
                               [&](const KindRow& kind) { return kind.name == name; });
  if (it != kinds_.end()) return &*it;
  const auto id = static_cast<std::int64_t>(kinds_.size()) + 1;
  return &kinds_.emplace_back(KindRow{id, std::string(name), false});
}

// Space for the log is taken before it is needed, so that no other program gets it: on a full disk
// deletions are still written: they make the database no larger. Where the file system cannot do
// that, keep_free has to do.
void SqliteJournal::reserve_log() const {
  constexpr std::int64_t kFrame = 4096 + 24;
  const std::int64_t wanted = kFrame * std::min(options_.checkpoint_pages, 2 * kScarcePages);
  const std::string log = StoreFolder::database(folder_.path()) + "-wal";
  const Fd file(::open(log.c_str(), O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, wanted));
}

std::string SqliteJournal::no_room() const {
  struct statvfs disk {};
  if (::statvfs(folder_.path().c_str(), &disk) != 0) return {};
  const auto block = static_cast<std::int64_t>(disk.f_frsize);
  const std::int64_t left = static_cast<std::int64_t>(disk.f_bavail) * block;
  const std::int64_t size = static_cast<std::int64_t>(disk.f_blocks) * block;
  const std::int64_t keep =
      options_.keep_free >= 0 ? options_.keep_free : std::min<std::int64_t>(size / 20, 64 << 20);
  if (left >= keep) return {};
  return folder_.path() + ": " + std::to_string(left) + " bytes are left on the disk, and " +
         std::to_string(keep) + " are kept for deletions";
}

// Done before a write and not after, so that it delays no acknowledgement of its own batch.
Result<void> SqliteJournal::checkpoint() {
  const bool scarce = log_pages_ >= kScarcePages && !no_room().empty();
  if (log_pages_ < next_checkpoint_ && !scarce) return {};
  int pages = 0, copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             &pages, &copied);
  // On a full disk the log goes on to be all there is of these changes.
  if (code != SQLITE_OK && code != SQLITE_BUSY && (code & 0xff) != SQLITE_FULL)
    return last_error(database_);
  // A reader of an old state, such as a backup, keeps the log from starting over.
  const bool all = code == SQLITE_OK && copied == pages;
  next_checkpoint_ = options_.checkpoint_pages + (all ? 0 : log_pages_);
  if (all) log_pages_ = 0;
  return {};
}

}  // namespace sluice::host
