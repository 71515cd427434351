#include "host/store/sqlite_journal.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "host/store/checksum.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kApplicationId = 0x534c5543;  // "SLUC": what file(1) could tell it by

constexpr const char* kCreate = R"(
BEGIN IMMEDIATE;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE kinds (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL           -- of the last change, deletions included
);
CREATE TABLE objects (
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL,
  hidden TEXT NOT NULL
);
CREATE UNIQUE INDEX objects_by_key ON objects (kind, key);
PRAGMA application_id = 1397511491;
PRAGMA user_version = 1;
COMMIT;
)";

std::int64_t checksum(const JournalRow& row) {
  Checksum sum;
  for (const std::string_view text :
       {row.kind, row.key, row.metadata, row.body, row.status, row.hidden})
    sum.add(text);
  sum.add(row.version);
  return static_cast<std::int64_t>(sum.value());
}

int keep_log_pages(void* pages, sqlite3* /*database*/, const char* /*name*/, int count) {
  *static_cast<std::uint32_t*>(pages) = static_cast<std::uint32_t>(count);
  return SQLITE_OK;
}

}  // namespace

Result<void> check_format(Database& database) {
  const auto id = database.integer("PRAGMA application_id");
  if (!id) return id.error();
  const auto format = database.integer("PRAGMA user_version");
  if (!format) return format.error();
  if (*id != kApplicationId) return Error{"this is a database, but not a store of sluice"};
  if (*format < 1 || *format > kStoreFormat)
    return Error{"the store has format " + std::to_string(*format) +
                 "; this sluice knows formats up to " + std::to_string(kStoreFormat) +
                 ": use the version that wrote it, or a newer one"};
  return {};
}

namespace {

Result<std::vector<std::string>> load_kinds(Database& database, JournalState& out) {
  std::vector<std::string> kinds;
  auto statement = database.prepare("SELECT id, name, version FROM kinds ORDER BY id");
  if (!statement) return statement.error();
  Result<bool> row = true;
  while ((row = statement->step()).ok() && *row) {
    if (statement->integer(0) != static_cast<std::int64_t>(kinds.size()) + 1)
      return Error{"the table of kinds is damaged"};
    kinds.emplace_back(statement->text(1));
    const auto version = static_cast<std::uint64_t>(statement->integer(2));
    out.kinds[kinds.back()] = version;
    out.version = std::max(out.version, version);
  }
  if (!row) return row.error();
  return kinds;
}

// The row that the statement is at; an error when it is not what was written.
Result<JournalRow> row_of(const Statement& statement, const std::vector<std::string>& kinds) {
  const auto kind = static_cast<std::size_t>(statement.integer(0));
  JournalRow out;
  out.key = statement.text(1);
  if (kind == 0 || kind > kinds.size())
    return Error{"object " + std::string(out.key) + " is of a kind that is not there"};
  out.kind = kinds[kind - 1];
  out.version = static_cast<std::uint64_t>(statement.integer(2));
  out.metadata = statement.text(4);
  out.body = statement.text(5);
  out.status = statement.text(6);
  out.hidden = statement.text(7);
  if (checksum(out) != statement.integer(3))
    return Error{std::string(out.kind) + " " + std::string(out.key) +
                 " is damaged: its checksum does not match"};
  return out;
}

}  // namespace

Result<JournalState> load_rows(Database& database,
                               const std::function<void(const JournalRow&)>& take,
                               const std::function<void(std::string)>& damaged) {
  JournalState out;
  const auto kinds = load_kinds(database, out);
  if (!kinds) return kinds.error();
  auto statement = database.prepare(
      "SELECT kind, key, version, checksum, metadata, body, status, hidden FROM objects");
  if (!statement) return statement.error();
  Result<bool> row = true;
  while ((row = statement->step()).ok() && *row) {
    const auto object = row_of(*statement, *kinds);
    if (object)
      take(*object);
    else if (damaged)
      damaged(object.error().text);
    else
      return object.error();
  }
  if (!row) return row.error();
  const auto fields = database.text("SELECT value FROM meta WHERE name = 'fields'");
  if (!fields) return fields.error();
  out.fields = *fields;
  return out;
}

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(const std::string& path,
                                                           const SqliteOptions& options) {
  auto folder = StoreFolder::open(path);
  if (!folder) return folder.error();
  const std::string file = StoreFolder::database(folder->path());
  if (auto made = create_private_file(file); !made) return made.error();
  auto database = Database::open(file, Database::Mode::kWrite, options.vfs);
  if (!database) return database.error();

  std::unique_ptr<SqliteJournal> out(new SqliteJournal(std::move(folder).value()));
  out->options_ = options;
  out->next_checkpoint_ = options.checkpoint_pages;
  out->database_ = std::move(database).value();
  if (auto ready = out->prepare(); !ready) {
    out->database_.leave_log();
    return ready.error().context(file);
  }
  return out;
}

SqliteJournal::~SqliteJournal() = default;

Result<void> SqliteJournal::prepare() {
  // Until everything is read, the file is read in place; writing goes on without.
  if (auto set = database_.execute("PRAGMA mmap_size = 4294967296"); !set) return set;
  const auto tables = database_.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (*tables != 0)
    if (auto known = check_format(database_); !known) return known;

  // EXTRA is FULL, and syncs the folder when the journal of a first start, before there is a
  // write-ahead log, is removed: a power cut must not bring that journal back.
  for (const char* setting : {"PRAGMA synchronous = EXTRA", "PRAGMA cache_size = -16384",
                              "PRAGMA cell_size_check = ON", "PRAGMA trusted_schema = OFF"})
    if (auto set = database_.execute(setting); !set) return set;
  const auto mode = database_.text("PRAGMA journal_mode = WAL");
  if (!mode) return mode.error();
  if (*mode != "wal") return Error{"this file system cannot hold a write-ahead log"};
  sqlite3_wal_hook(database_.handle(), keep_log_pages, &log_pages_);
  if (*tables == 0) return database_.execute(kCreate);
  return {};
}

namespace {

Result<void> check_structure(Database& database) {
  const auto checked = database.text("PRAGMA quick_check(1)");
  if (!checked) return checked.error();
  if (*checked != "ok") return Error{"the file is damaged: " + *checked};
  return {};
}

Result<void> check_structure(const std::string& file) {
  auto database = Database::open(file, Database::Mode::kRead);
  if (!database) return database.error();
  if (auto set = database->execute("PRAGMA mmap_size = 4294967296"); !set) return set;
  return check_structure(*database);
}

}  // namespace

// The pages are checked on a connection of its own while the rows are read; a VFS of a test is used
// by one thread.
Result<JournalState> SqliteJournal::load(const std::function<void(const JournalRow&)>& take) {
  const std::string file = StoreFolder::database(folder_.path());
  Result<void> whole;
  std::thread checker;
  if (options_.vfs.empty())
    checker = std::thread([&] { whole = check_structure(file); });
  else
    whole = check_structure(database_);
  auto out = load_rows(database_, take);
  if (checker.joinable()) checker.join();
  if (!whole) return whole.error().context(file);
  if (!out) return out.error().context(file);
  auto kinds = database_.prepare("SELECT id, name, version FROM kinds ORDER BY id");
  if (!kinds) return kinds.error().context(file);
  Result<bool> row = true;
  while ((row = kinds->step()).ok() && *row)
    kinds_.push_back({kinds->integer(0), std::string(kinds->text(1)),
                      static_cast<std::uint64_t>(kinds->integer(2)), false});
  if (!row) return row.error().context(file);
  if (auto set = database_.execute("PRAGMA mmap_size = 0"); !set) return set.error().context(file);

  const std::pair<Statement*, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&put_,
       "INSERT INTO objects (kind, key, version, checksum, metadata, body, status, hidden)"
       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (kind, key) DO UPDATE SET"
       " version = ?3, checksum = ?4, metadata = ?5, body = ?6, status = ?7, hidden = ?8"},
      {&erase_, "DELETE FROM objects WHERE kind = ?1 AND key = ?2"},
      {&put_kind_,
       "INSERT INTO kinds (id, name, version) VALUES (?1, ?2, ?3)"
       " ON CONFLICT (id) DO UPDATE SET version = ?3"},
      {&put_meta_,
       "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = "
       "?2"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error().context(file);
    *statement = std::move(prepared).value();
  }
  return out;
}

Result<void> SqliteJournal::write(std::span<const JournalRow> rows, std::uint64_t /*version*/,
                                  std::string_view fields) {
  const std::string file = StoreFolder::database(folder_.path());
  if (failed_) return Error{file + ": an earlier write failed"};
  Result<void> done = checkpoint();
  if (done.ok()) done = begin_.run();
  if (done.ok()) done = write_rows(rows, fields);
  if (done.ok()) done = commit_.run();
  if (done.ok()) return done;
  failed_ = true;
  database_.leave_log();
  return done.error().context(file);
}

Result<void> SqliteJournal::write_rows(std::span<const JournalRow> rows, std::string_view fields) {
  for (const JournalRow& row : rows) {
    KindRow* kind = kind_of(row.kind);
    kind->version = std::max(kind->version, row.version);
    kind->dirty = true;
    Statement& statement = row.deleted ? erase_ : put_;
    statement.bind(1, kind->id);
    statement.bind(2, row.key);
    if (!row.deleted) {
      statement.bind(3, static_cast<std::int64_t>(row.version));
      statement.bind(4, checksum(row));
      statement.bind(5, row.metadata);
      statement.bind(6, row.body);
      statement.bind(7, row.status);
      statement.bind(8, row.hidden);
    }
    if (auto done = statement.run(); !done) return done;
  }
  for (KindRow& kind : kinds_) {
    if (!std::exchange(kind.dirty, false)) continue;
    put_kind_.bind(1, kind.id);
    put_kind_.bind(2, kind.name);
    put_kind_.bind(3, static_cast<std::int64_t>(kind.version));
    if (auto done = put_kind_.run(); !done) return done;
  }
  if (fields.empty()) return {};
  put_meta_.bind(1, std::string_view("fields"));
  put_meta_.bind(2, fields);
  return put_meta_.run();
}

SqliteJournal::KindRow* SqliteJournal::kind_of(std::string_view name) {
  const auto it = std::find_if(kinds_.begin(), kinds_.end(),
                               [&](const KindRow& kind) { return kind.name == name; });
  if (it != kinds_.end()) return &*it;
  const auto id = static_cast<std::int64_t>(kinds_.size()) + 1;
  return &kinds_.emplace_back(KindRow{id, std::string(name), 0, false});
}

// Done before a write and not after, so that it delays no acknowledgement of its own batch.
Result<void> SqliteJournal::checkpoint() {
  if (log_pages_ < next_checkpoint_) return {};
  int pages = 0, copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             &pages, &copied);
  if (code != SQLITE_OK && code != SQLITE_BUSY) return last_error(database_);
  // A reader of an old state, such as a backup, keeps the log from starting over.
  const bool all = code == SQLITE_OK && copied == pages;
  next_checkpoint_ = options_.checkpoint_pages + (all ? 0 : log_pages_);
  if (all) log_pages_ = 0;
  return {};
}

}  // namespace sluice::host
