// Cells of Events.
#include <array>

#include "api/json/json.hpp"
#include "core/base/text.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/table.hpp"
#include "host/rest/table_cells.hpp"

namespace sluice::host::cells {

namespace json = boost::json;

namespace {

using api::find_text;

std::string first_seen(const json::object& event, Time now) {
  const std::string_view first = find_text(event, "firstTimestamp");
  return age_text(first.empty() ? find_text(event, "eventTime") : first, now);
}

std::int64_t times(const json::object& event) {
  if (const json::object* series = api::find_object(event, "series")) {
    return api::find_int(*series, "count").value_or(1);
  }
  const std::int64_t count = api::find_int(event, "count").value_or(1);
  return count > 0 ? count : 1;
}

void event_last_seen(const json::object& event, Time now, std::string& out) {
  if (const json::object* series = api::find_object(event, "series")) {
    return api::append_json_text(age_text(find_text(*series, "lastObservedTime"), now), out);
  }
  const std::string_view last = find_text(event, "lastTimestamp");
  api::append_json_text(last.empty() ? first_seen(event, now) : age_text(last, now), out);
}

void event_first_seen(const json::object& event, Time now, std::string& out) {
  api::append_json_text(first_seen(event, now), out);
}

void event_count(const json::object& event, Time, std::string& out) {
  api::append_json_text(std::to_string(times(event)), out);
}

void event_object(const json::object& event, Time, std::string& out) {
  const json::object& about = part(event, "involvedObject");
  std::string text = lower_ascii(find_text(about, "kind"));
  text.append("/").append(find_text(about, "name"));
  api::append_json_text(text, out);
}

void event_source(const json::object& event, Time, std::string& out) {
  const json::object& source = part(event, "source");
  std::string text(find_text(source, "component"));
  std::string_view host = find_text(source, "host");
  if (text.empty()) {
    text = find_text(event, "reportingComponent");
    host = find_text(event, "reportingInstance");
  }
  if (!host.empty()) text.append(", ").append(host);
  api::append_json_text(text, out);
}

void event_message(const json::object& event, Time, std::string& out) {
  std::string_view text = find_text(event, "message");
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  api::append_json_text(text, out);
}

constexpr std::array<Named, 6> kEventCells = {{
    {"eventLastSeen", event_last_seen},
    {"eventFirstSeen", event_first_seen},
    {"eventCount", event_count},
    {"eventObject", event_object},
    {"eventSource", event_source},
    {"eventMessage", event_message},
}};

}  // namespace

ComputedCell of_events(std::string_view name) {
  for (const Named& each : kEventCells) {
    if (each.name == name) return each.cell;
  }
  return nullptr;
}

}  // namespace sluice::host::cells
