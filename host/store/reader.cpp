#include "host/store/reader.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "host/store/folder.hpp"
#include "host/store/sqlite_rows.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

Result<json::object> parse_part(std::string_view text, const char* part) {
  json::error_code code;
  json::value value = api::parse_deep(text, code);
  if (code) return Error{std::string(part) + " is not JSON: " + code.message()};
  if (!value.is_object()) return Error{std::string(part) + " is not an object"};
  return std::move(value.get_object());
}

}  // namespace

Result<Database> open_store(const std::string& path, std::string& file) {
  std::error_code code;
  file = std::filesystem::is_directory(path, code) ? StoreFolder::database(path) : path;
  if (!std::filesystem::exists(file, code)) return Error{path + ": there is no store here"};
  auto database = Database::open(file, Database::Mode::kRead);
  if (!database) return database.error();
  if (auto begun = database->execute("BEGIN"); !begun) return begun.error().context(file);
  if (auto known = check_format(*database); !known) return known.error().context(file);
  return database;
}

Result<json::object> object_of(const JournalRow& row) {
  auto metadata = parse_part(row.metadata, "metadata");
  if (!metadata) return metadata.error();
  auto body = parse_part(row.body, "body");
  if (!body) return body.error();
  json::object out;
  out["metadata"] = std::move(*metadata);
  for (auto& entry : *body) out[entry.key()] = std::move(entry.value());
  if (row.status.empty()) return out;
  auto status = parse_part(row.status, "status");
  if (!status) return status.error();
  out["status"] = std::move(*status);
  return out;
}

Result<std::vector<json::object>> objects_of_kind(const std::string& path, std::string_view kind) {
  std::vector<json::object> out;
  std::error_code code;
  std::string file = std::filesystem::is_directory(path, code) ? StoreFolder::database(path) : path;
  if (!std::filesystem::exists(file, code)) return out;
  auto database = open_store(path, file);
  if (!database) return database.error();
  auto rows = database->prepare(
      "SELECT metadata, body FROM objects WHERE kind = (SELECT id FROM kinds WHERE name = ?)");
  if (!rows) return rows.error();
  rows->bind(1, kind);
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return out;
    JournalRow read;
    read.metadata = rows->text(0);
    read.body = rows->text(1);
    auto object = object_of(read);
    if (!object) return object.error();
    out.push_back(std::move(*object));
  }
}

std::map<std::string, const api::KindInfo*, std::less<>> kinds_by_name(const api::Scheme& scheme) {
  std::map<std::string, const api::KindInfo*, std::less<>> out;
  for (const api::KindInfo* kind : scheme.kinds()) out[kind->group_kind()] = kind;
  return out;
}

}  // namespace sluice::host
