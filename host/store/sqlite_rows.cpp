#include "host/store/sqlite_rows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "host/base/progress.hpp"
#include "host/store/checksum.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kApplicationId = 0x534c5543;  // "SLUC": what file(1) could tell it by

// SQLite keeps these texts, comments too, and check_structure() compares them: stores of another
// wording would count as damaged.
constexpr const char* kTables = R"(
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
)";

/// What the tables of a database were made with, and where that is the same in each, what they are.
Result<std::string> schema_of(Database& database) {
  return database.text(
      "SELECT group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, ''), "
      "x'0a') FROM (SELECT * FROM sqlite_schema ORDER BY name)");
}

std::uint64_t place_of(std::int64_t kind, std::string_view key, std::int64_t id) {
  Checksum sum;
  sum.add(static_cast<std::uint64_t>(kind));
  sum.add(key);
  sum.add(static_cast<std::uint64_t>(id));
  return sum.value();
}

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
  const auto kind = static_cast<std::size_t>(statement.integer(1));
  JournalRow out;
  out.key = statement.text(2);
  if (kind == 0 || kind > kinds.size())
    return Error{"object " + std::string(out.key) + " is of a kind that is not there"};
  out.kind = kinds[kind - 1];
  out.version = static_cast<std::uint64_t>(statement.integer(3));
  out.metadata = statement.text(5);
  out.body = statement.text(6);
  out.status = statement.text(7);
  out.hidden = statement.text(8);
  if (row_checksum(out) != static_cast<std::uint64_t>(statement.integer(4)))
    return Error{std::string(out.kind) + " " + std::string(out.key) +
                 " is damaged: its checksum does not match"};
  return out;
}

/// Whether the database says of itself what was found. From here on the seal is what it says.
Result<void> check_seal(Database& database, Seal& seal) {
  const auto format = database.integer("PRAGMA user_version");
  if (!format) return format.error();
  if (*format == 1) return {};
  const auto text = database.text("SELECT value FROM meta WHERE name = 'seal'");
  if (!text) return text.error();
  const auto says = parse_seal(*text);
  if (!says) return Error{"the store is damaged: its seal cannot be read"};
  const Seal found = std::exchange(seal, *says);
  if (found.version == seal.version && found.objects == seal.objects && found.digest == seal.digest)
    return {};
  return Error{"the store is damaged: it holds " + std::to_string(found.objects) +
               " objects at version " + std::to_string(found.version) +
               ", which is not what was written last: " + std::to_string(seal.objects) +
               " objects at version " + std::to_string(seal.version)};
}

}  // namespace

Result<void> create_tables(Database& database) {
  const std::string sql = std::string("BEGIN IMMEDIATE;") + kTables +
                          "INSERT INTO meta VALUES ('seal', '" +
                          to_text({0, 0, 0, digest_of(0, {}, "")}) +
                          "'); PRAGMA application_id = " + std::to_string(kApplicationId) +
                          "; PRAGMA user_version = " + std::to_string(kStoreFormat) + "; COMMIT;";
  return database.execute(sql.c_str());
}

Result<void> check_format(Database& database) {
  const auto id = database.integer("PRAGMA application_id");
  if (!id) return id.error();
  const auto format = database.integer("PRAGMA user_version");
  if (!format) return format.error();
  if (*id != kApplicationId) return Error{"this is a database, but not a store of sluice"};
  if (*format != 1 && *format != kStoreFormat && *format != kEncryptedFormat)
    return Error{"the store has format " + std::to_string(*format) +
                 "; this sluice knows formats 1, " + std::to_string(kStoreFormat) + " and " +
                 std::to_string(kEncryptedFormat) +
                 ": use the version that wrote it, or a newer one"};
  return {};
}

Result<void> check_tables(Database& database) {
  const auto found = schema_of(database);
  if (!found) return found.error();
  auto model = Database::in_memory();
  if (!model) return model.error();
  if (auto made = model->execute(kTables); !made) return made;
  const auto wanted = schema_of(*model);
  if (!wanted) return wanted.error();
  if (*found != *wanted) return Error{"the file is damaged: its tables are not those of a store"};
  return {};
}

Result<void> check_structure(Database& database) {
  const auto checked = database.text("PRAGMA quick_check(1)");
  if (!checked) return checked.error();
  if (*checked != "ok") return Error{"the file is damaged: " + *checked};
  return check_tables(database);
}

Result<std::uint64_t> index_sum(Database& database) {
  auto statement =
      database.prepare("SELECT kind, key, rowid FROM objects INDEXED BY objects_by_key");
  if (!statement) return statement.error();
  std::uint64_t sum = 0;
  std::int64_t last_kind = 0;
  std::string last_key;
  Result<bool> row = true;
  while ((row = statement->step()).ok() && *row) {
    const std::int64_t kind = statement->integer(0);
    const std::string_view key = statement->text(1);
    if (std::tie(kind, key) <= std::make_tuple(last_kind, std::string_view(last_key)))
      return Error{"the file is damaged: its index is not in order at " + std::string(key)};
    last_kind = kind;
    last_key = key;
    sum += place_of(kind, key, statement->integer(2));
  }
  if (!row) return row.error();
  return sum;
}

Result<void> check_index(const LoadedRows& rows, const Result<std::uint64_t>& index) {
  if (!index) return index.error();
  if (*index != rows.places)
    return Error{"the file is damaged: its index does not find every object"};
  return {};
}

namespace {

/// What the store says of itself; 0 when it says nothing that can be read.
std::uint64_t objects_by_seal(Database& database) {
  const auto text = database.text("SELECT value FROM meta WHERE name = 'seal'");
  const auto seal = text ? parse_seal(*text) : std::nullopt;
  return seal ? seal->objects : 0;
}

}  // namespace

Result<LoadedRows> load_rows(Database& database, const std::function<void(const JournalRow&)>& take,
                             const std::function<void(std::string)>& damaged) {
  LoadedRows out;
  const auto kinds = load_kinds(database, out.state);
  if (!kinds) return kinds.error();
  auto statement = database.prepare(
      "SELECT id, kind, key, version, checksum, metadata, body, status, hidden FROM objects");
  if (!statement) return statement.error();
  Progress progress("reading the store", "objects");
  progress.expect(objects_by_seal(database));
  Result<bool> row = true;
  while ((row = statement->step()).ok() && *row) {
    progress.add();
    const auto object = row_of(*statement, *kinds);
    if (!object) {
      if (!damaged) return object.error();
      damaged(object.error().text);
      out.whole = false;
      continue;
    }
    take(*object);
    ++out.seal.objects;
    out.sum += static_cast<std::uint64_t>(statement->integer(4));
    out.places += place_of(statement->integer(1), object->key, statement->integer(0));
  }
  if (!row) return row.error();
  const auto fields = database.text("SELECT value FROM meta WHERE name = 'fields'");
  if (!fields) return fields.error();
  out.state.fields = *fields;
  out.seal.version = out.state.version;
  out.seal.digest = digest_of(out.sum, out.state.kinds, out.state.fields);
  if (auto sealed = check_seal(database, out.seal); !sealed) {
    if (!damaged) return sealed.error();
    if (out.whole) damaged(sealed.error().text);  // else it was reported already
  }
  return out;
}

}  // namespace sluice::host
