// What is in a store's database: its tables, and reading all of it with every check there is. Used
// by the journal that writes it and by the tools that only look.
//
// Functions of the database and nothing else; on the thread that has it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "host/store/journal.hpp"
#include "host/store/seal.hpp"
#include "host/store/sqlite.hpp"

namespace sluice::host {

/// The format of stores that this program writes. 1: without a seal.
inline constexpr std::int64_t kStoreFormat = 2;
/// Of stores whose rows may be encrypted. No flipped bit makes one format of another.
inline constexpr std::int64_t kEncryptedFormat = 4;

/// Makes the tables of an empty database, with the seal of nothing.
Result<void> create_tables(Database& database);

/// An error unless the open database is a store of a format that is known.
Result<void> check_format(Database& database);

/// An error unless the tables are those that create_tables() makes.
Result<void> check_tables(Database& database);
/// Pages and tables: an error tells the first thing that is not as it was made.
Result<void> check_structure(Database& database);

struct LoadedRows {
  JournalState state;
  Seal seal;                 ///< as the database says; of format 1: as it would
  std::uint64_t sum = 0;     ///< over the rows' checksums
  std::uint64_t places = 0;  ///< as index_sum()
  bool whole = true;         ///< no row was left out
};

/// Over all entries of the index by key: what LoadedRows::places is when each row is found by it.
Result<std::uint64_t> index_sum(Database& database);
/// An error unless the index finds every row, and nothing else.
Result<void> check_index(const LoadedRows& rows, const Result<std::uint64_t>& index);

/// Every object of the database. A row that is not what was written, or a seal that does not fit
/// the rows, is an error; or reported to `damaged`, and the row left out.
Result<LoadedRows> load_rows(Database& database, const std::function<void(const JournalRow&)>& take,
                             const std::function<void(std::string)>& damaged = nullptr);

}  // namespace sluice::host
