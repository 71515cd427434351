#include "host/rest/table.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/table_cells.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

const api::KindInfo::Version& version_of(const api::KindInfo& kind, std::string_view name) {
  const auto it = std::find_if(kind.versions.begin(), kind.versions.end(),
                               [&](const auto& version) { return version.name == name; });
  SLUICE_CHECK(it != kind.versions.end(), kind.kind, " has no version ", name);
  return *it;
}

json::object definition(std::string_view name, std::string_view type, std::string_view format,
                        std::string_view description, std::int32_t priority) {
  return {{"name", api::json_view(name)},
          {"type", api::json_view(type)},
          {"format", api::json_view(format)},
          {"description", api::json_view(description)},
          {"priority", priority}};
}

/// Columns of a kind that names none.
const std::vector<api::Column>& age_only() {
  static const std::vector<api::Column> columns = {
      {"Age", "date", ".metadata.creationTimestamp", "", 0}};
  return columns;
}

std::string plural_text(std::int64_t a, const char* unit, std::int64_t b, const char* small) {
  std::string out = std::to_string(a) + unit;
  if (b != 0) out += std::to_string(b) + small;
  return out;
}

}  // namespace

std::string human_duration(Duration span) {
  const std::int64_t seconds = span / kSecond;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return plural_text(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return plural_text(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (days < 8) return plural_text(days, "d", hours % 24, "h");
  if (days < 730) return std::to_string(days) + "d";
  if (days < 8 * 365) return plural_text(days / 365, "y", days % 365, "d");
  return std::to_string(days / 365) + "y";
}

TableFormat::TableFormat(const api::KindInfo& kind, std::string_view version) {
  const auto& own = version_of(kind, version).columns;
  const auto& columns = own.empty() ? age_only() : own;
  json::array definitions;
  const bool named = std::any_of(columns.begin(), columns.end(),
                                 [](const auto& column) { return column.name == "Name"; });
  if (!named) {
    Cell name;
    name.path = *api::JsonPath::parse(".metadata.name");
    cells_.push_back(std::move(name));
    definitions.push_back(definition("Name", "string", "name", "Name of the object", 0));
  }
  for (const api::Column& column : columns) {
    Cell cell;
    if (column.json_path.starts_with("=")) {
      cell.computed = computed_cell(std::string_view(column.json_path).substr(1));
    } else if (auto path = api::JsonPath::parse(column.json_path)) {
      cell.path = std::move(*path);
    }
    if (column.type == "integer") cell.type = CellType::kInteger;
    if (column.type == "number") cell.type = CellType::kNumber;
    if (column.type == "boolean") cell.type = CellType::kBoolean;
    if (column.type == "date") cell.type = CellType::kDate;
    const bool date = cell.type == CellType::kDate;  // sent as the text of an age
    const std::string_view type =
        date || column.type.empty() ? "string" : std::string_view(column.type);
    definitions.push_back(definition(column.name, type,
                                     column.json_path == ".metadata.name" ? "name" : "",
                                     column.description, column.priority));
    cells_.push_back(std::move(cell));
  }
  columns_ = api::to_json(definitions);
}

void TableFormat::append_value(const Cell& cell, const json::object& object, Time now,
                               std::string& out) {
  if (cell.computed != nullptr) return cell.computed(object, now, out);
  const auto found = cell.path.find(object);
  const json::value* value = found.empty() ? nullptr : found[0];
  if (cell.type == CellType::kDate) {
    const auto* text = value != nullptr ? value->if_string() : nullptr;
    api::append_json_text(age_text(text != nullptr ? api::view(*text) : std::string_view(), now),
                          out);
    return;
  }
  if (value == nullptr || value->is_null()) {
    out += "null";
    return;
  }
  if (cell.type == CellType::kInteger || cell.type == CellType::kNumber) {
    const auto number = api::as_int(*value);
    if (number && cell.type == CellType::kInteger) {
      out += std::to_string(*number);
    } else if (value->is_number()) {
      api::append_json(*value, out);
    } else {
      out += "null";
    }
    return;
  }
  if (cell.type == CellType::kBoolean && value->is_bool()) {
    out += value->get_bool() ? "true" : "false";
    return;
  }
  std::string text;
  for (const json::value* each : found) {
    if (!text.empty()) text += ' ';
    if (const auto* string = each->if_string()) {
      text += api::view(*string);
    } else {
      api::append_json(*each, text);
    }
  }
  api::append_json_text(text, out);
}

void TableFormat::append_cells(const json::object& object, Time now, std::string& out) const {
  out += '[';
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (i > 0) out += ',';
    append_value(cells_[i], object, now, out);
  }
  out += ']';
}

}  // namespace sluice::host
