#include "host/rest/table_cells.hpp"

#include <array>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/table.hpp"

namespace sluice::host {

namespace json = boost::json;

std::string age_text(std::string_view time, Time now) {
  if (time.empty()) return "<unknown>";
  const auto at = parse_time(time);
  return at ? human_duration(now - *at) : "<invalid>";
}

namespace cells {

const json::object* condition(const json::object& object, std::string_view type) {
  const json::array* list = api::find_array(part(object, "status"), "conditions");
  if (list == nullptr) return nullptr;
  for (const auto& each : *list) {
    const auto* found = each.if_object();
    if (found != nullptr && api::find_text(*found, "type") == type) return found;
  }
  return nullptr;
}

bool is_true(const json::object& object, std::string_view type) {
  const json::object* found = condition(object, type);
  return found != nullptr && api::find_text(*found, "status") == "True";
}

void append_or_none(std::string_view text, std::string& out) {
  api::append_json_text(text.empty() ? "<none>" : text, out);
}

std::string labels_text(const json::object* labels) {
  std::string out;
  if (labels != nullptr) {
    for (const auto& member : *labels) {
      const auto* value = member.value().if_string();
      if (!out.empty()) out += ',';
      out.append(api::view(member.key())).append("=");
      if (value != nullptr) out += api::view(*value);
    }
  }
  return out.empty() ? "<none>" : out;
}

std::string selector_text(const json::object* selector) {
  if (selector == nullptr) return "<none>";
  std::string out = labels_text(api::find_object(*selector, "matchLabels"));
  if (out == "<none>") out.clear();
  const json::array* expressions = api::find_array(*selector, "matchExpressions");
  for (std::size_t i = 0; expressions != nullptr && i < expressions->size(); ++i) {
    const auto* each = (*expressions)[i].if_object();
    if (each == nullptr) continue;
    if (!out.empty()) out += ',';
    const std::string key(api::find_text(*each, "key"));
    const std::string_view op = api::find_text(*each, "operator");
    if (op == "Exists" || op == "DoesNotExist") {
      out += (op == "Exists" ? "" : "!") + key;
      continue;
    }
    out += key + (op == "NotIn" ? " notin (" : " in (");
    const json::array* values = api::find_array(*each, "values");
    for (std::size_t j = 0; values != nullptr && j < values->size(); ++j) {
      if (j > 0) out += ',';
      if (const auto* text = (*values)[j].if_string()) out += api::view(*text);
    }
    out += ')';
  }
  return out.empty() ? "<none>" : out;
}

}  // namespace cells

ComputedCell computed_cell(std::string_view name) {
  for (const auto look : {cells::of_pods, cells::of_jobs, cells::of_events, cells::of_others}) {
    if (const ComputedCell found = look(name)) return found;
  }
  return nullptr;
}

}  // namespace sluice::host
