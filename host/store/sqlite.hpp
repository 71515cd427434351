// Database and Statement: SQLite with errors as values. Each belongs to one thread at a time; a
// Statement must not outlive its Database.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace sluice::host {

class Database;

/// A prepared statement. bind() keeps no copy: the texts must live until the next reset(). What
/// cannot be bound (a text beyond SQLite's limit) is the error of the next step.
class Statement {
 public:
  Statement() = default;

  void bind(int place, std::int64_t value);
  void bind(int place, std::string_view text);
  void bind_bytes(int place, std::string_view bytes);
  void bind_nothing(int place);
  /// True: there is a row; false: it is done.
  Result<bool> step();
  /// Runs to the end and makes it ready for the next run.
  Result<void> run();
  void reset();

  std::int64_t integer(int column) const;
  /// Valid until the next step.
  std::string_view text(int column) const;
  std::string_view bytes(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;  // the first error of a bind since the last reset
};

/// Why the last call failed, as a person can act on it.
Error last_error(const Database& database);

class Database {
 public:
  enum class Mode { kRead, kWrite };  ///< neither creates a file

  Database() = default;
  /// `vfs` empty: the system's.
  static Result<Database> open(const std::string& file, Mode mode, const std::string& vfs = {});

  /// An empty one.
  static Result<Database> in_memory();

  Result<void> execute(const char* sql);
  Result<Statement> prepare(const char* sql);
  /// The one value of the one row.
  Result<std::int64_t> integer(const char* sql);
  Result<std::string> text(const char* sql);
  /// A copy of the whole database as of the transaction that is open, also while others write it.
  Result<void> copy_to(Database& target);
  /// Rows that the last statement changed.
  std::int64_t changed() const;
  /// On closing, the write-ahead log stays as it is.
  void leave_log();

  sqlite3* handle() const { return database_.get(); }

 private:
  static Result<Database> open_with(const std::string& file, int flags, const char* vfs);
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace sluice::host
