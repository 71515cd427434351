#include "host/store/sqlite.hpp"

#include <sqlite3.h>

#include <cstring>

#include "host/base/progress.hpp"

namespace sluice::host {
namespace {

// The reason as a person can act on it.
Error error_of(sqlite3* database) {
  const int code = sqlite3_extended_errcode(database);
  std::string text;
  switch (code & 0xff) {
    case SQLITE_FULL:
      text = "the disk is full";
      break;
    case SQLITE_NOTADB:
      text = "this file is not a store";
      break;
    case SQLITE_CORRUPT:
      text = "the file is damaged";
      break;
    case SQLITE_IOERR:
      text = "reading or writing failed";
      break;
    case SQLITE_CANTOPEN:
      text = "the file cannot be opened";
      break;
    case SQLITE_READONLY:
      text = "the file cannot be written";
      break;
    default:
      break;
  }
  if (const int reason = sqlite3_system_errno(database); !text.empty() && reason != 0)
    text += std::string(": ") + std::strerror(reason);
  const std::string said = std::string(sqlite3_errmsg(database)) + ", " + std::to_string(code);
  return Error{text.empty() ? said : text + " (SQLite: " + said + ")"};
}

}  // namespace

Error last_error(const Database& database) { return error_of(database.handle()); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

void Statement::bind(int place, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), place, value);
  if (bound_ == SQLITE_OK) bound_ = code;
}

void Statement::bind(int place, std::string_view text) {
  const int code =
      sqlite3_bind_text64(statement_.get(), place, text.data() == nullptr ? "" : text.data(),
                          text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (bound_ == SQLITE_OK) bound_ = code;
}

void Statement::bind_bytes(int place, std::string_view bytes) {
  const int code =
      sqlite3_bind_blob64(statement_.get(), place, bytes.data() == nullptr ? "" : bytes.data(),
                          bytes.size(), SQLITE_STATIC);
  if (bound_ == SQLITE_OK) bound_ = code;
}

void Statement::bind_nothing(int place) {
  const int code = sqlite3_bind_null(statement_.get(), place);
  if (bound_ == SQLITE_OK) bound_ = code;
}

Result<bool> Statement::step() {
  if (bound_ != SQLITE_OK)
    return Error{std::string("a value cannot be stored: ") + sqlite3_errstr(bound_)};
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(sqlite3_db_handle(statement_.get()));
}

Result<void> Statement::run() {
  Result<bool> row = true;
  while (row.ok() && *row) row = step();
  // The error is taken before the reset, which forgets the reason.
  reset();
  if (!row) return row.error();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  bound_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Database> Database::open_with(const std::string& file, int flags, const char* vfs) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
  Database out;
  out.database_.reset(raw);
  if (code != SQLITE_OK) {
    const Error error = raw == nullptr ? Error{"out of memory"} : error_of(raw);
    return error.context(file);
  }
  sqlite3_busy_timeout(raw, 10'000);  // another process may be copying or checking
  return out;
}

Result<Database> Database::open(const std::string& file, Mode mode, const std::string& vfs) {
  return open_with(file, mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE,
                   vfs.empty() ? nullptr : vfs.c_str());
}

Result<Database> Database::in_memory() {
  return open_with(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
}

Result<void> Database::execute(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return error_of(handle());
  return {};
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) != SQLITE_OK)
    return error_of(handle());
  Statement out;
  out.statement_.reset(raw);
  return out;
}

Result<std::int64_t> Database::integer(const char* sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Result<std::string> Database::text(const char* sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row ? std::string(statement->text(0)) : std::string();
}

namespace {
constexpr int kPagesPerStep = 4096;  // 16 MiB
}  // namespace

Result<void> Database::copy_to(Database& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle(), "main", handle(), "main");
  if (backup == nullptr) return error_of(target.handle());
  // Piece by piece, and yet of the moment of the transaction; in WAL mode it holds up no writer.
  Progress progress("copying the store", "pages");
  int step = SQLITE_OK;
  while ((step = sqlite3_backup_step(backup, kPagesPerStep)) == SQLITE_OK) {
    const auto all = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup));
    progress.expect(all);
    progress.reach(all - static_cast<std::uint64_t>(sqlite3_backup_remaining(backup)));
  }
  if (sqlite3_backup_finish(backup) != SQLITE_OK || step != SQLITE_DONE)
    return error_of(target.handle());
  return {};
}

std::int64_t Database::changed() const { return sqlite3_changes64(handle()); }

void Database::leave_log() {
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

}  // namespace sluice::host
