#include "host/whatif/text.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "core/base/time.hpp"
#include "host/base/table_text.hpp"
#include "host/explain/text.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using Row = std::vector<std::string>;

/// `Job team-a/train`
std::string name_of(const json::object& object) {
  return text_in(object, "kind") + " " +
         join_key(text_in(object, "namespace"), text_in(object, "name"));
}

std::string preemptor(const json::object& entry) {
  const json::object& by = part(entry, "by");
  return by.contains("kind") ? name_of(by) : text_in(by, "workload");
}

std::string headline(const std::string& decision) {
  const std::pair<const char*, const char*> all[] = {
      {"Starts", "would start now"},
      {"Runs", "would run on"},
      {"Waits", "would wait"},
      {"WaitsForChecks", "would get its quota now, and start when its checks are Ready"},
      {"Finished", "is finished"},
      {"Inactive", "would be off"},
      {"HeldBack", "would be held back: it stays suspended, and its Events say why"},
      {"NotQueued", "is in no queue: it would start as soon as it is created"}};
  for (const auto& [name, said] : all)
    if (decision == name) return said;
  return decision;
}

constexpr std::string_view kAtOnce = "at once";

/// `in 2m30s`, with the moment.
std::string moment(const json::object& status, const std::string& time) {
  const auto at = parse_time(time);
  const auto now = api::find_time(status, "time");
  if (!at || !now) return time;
  const std::int64_t seconds = (*at - *now) / kSecond;
  if (seconds <= 0) return std::string(kAtOnce);
  return fmt::format("in {} ({})", span_text(seconds, 4), format_time(*at - *at % kSecond));
}

constexpr std::string_view kProviso = "if nothing else is submitted";

std::string start_text(const json::object& status, const json::object& start,
                       std::string_view proviso) {
  const std::string earliest = text_in(start, "earliest"), latest = text_in(start, "latest");
  std::string out;
  if (!earliest.empty() && earliest == latest)
    out = moment(status, earliest);
  else if (!earliest.empty() && !latest.empty())
    out = fmt::format("between {} and {}", moment(status, earliest), moment(status, latest));
  else if (!earliest.empty())
    out = moment(status, earliest) == kAtOnce
              ? fmt::format("perhaps {}", kAtOnce)
              : fmt::format("not before {}", moment(status, earliest));
  const auto percent = api::find_int(start, "percent").value_or(0);
  if (percent > 0 && percent < 100) out += fmt::format(", {} % sure", percent);
  if (!out.empty() && percent > 0) out += proviso;
  const std::string because = text_in(start, "because");
  if (because.empty()) return out;
  return out.empty() ? because : out + "; " + because;
}

std::string without_first_line(const std::string& lines) {
  return lines.substr(lines.find('\n') + 1);
}

/// Of those of a queue that wait already: one line each, in the queue's order.
std::string queue_of_starts_text(const json::object& status) {
  std::vector<Row> rows = {{"WORKLOAD", "START"}};
  for_each_object(status, "workloads", [&](const json::object& told) {
    const json::object& object = part(told, "object");
    rows.push_back({join_key(text_in(object, "namespace"), text_in(object, "name")),
                    start_text(status, part(told, "start"), "")});
  });
  const std::string warnings = bullets_text(status, "warnings", "Warnings");
  if (rows.size() == 1) return "Nothing waits there that you may see.\n" + warnings;
  return table_text(rows) + fmt::format("\nThis holds {}.\n", kProviso) + warnings;
}

std::string workload_text(const json::object& status, const json::object& told) {
  const std::string decision = text_in(told, "decision");
  std::string out = fmt::format("{}: {}\n", name_of(part(told, "object")), headline(decision));
  std::vector<Row> rows;
  const auto row = [&rows](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({name, value});
  };
  row("Start", start_text(status, part(told, "start"), fmt::format(", {}", kProviso)));
  const json::object& explanation = part(told, "explanation");
  if (explanation.empty()) {
    row("Queue", part(told, "queue").empty() ? "" : queue_text(part(told, "queue")));
    row("Runs on", admission_text(told));
    row("Checks", checks_text(told));
  }
  const json::object& evicted = part(told, "evicted");
  if (!evicted.empty()) {
    const std::string by = preemptor(evicted);
    row("Evicted", text_in(evicted, "reason") + (by.empty() ? "" : ", for " + by));
  }
  if (!rows.empty()) out += table_text(rows);
  return explanation.empty() ? out : out + without_first_line(explanation_text(explanation));
}

std::string change_text(const json::object& changes, const char* name, const char* title) {
  std::vector<Row> rows = {{title, "JOB", "CLUSTERQUEUE", "BECAUSE", "FOR", "THEN"}};
  for_each_object(changes, name, [&](const json::object& entry) {
    std::string then = admission_text(entry);
    if (api::find_bool(entry, "goesOn", false)) then = "starts again: " + then;
    rows.push_back({text_in(entry, "workload"), text_in(entry, "job"),
                    text_in(entry, "clusterQueue"), text_in(entry, "reason"), preemptor(entry),
                    then});
  });
  return rows.size() == 1 ? "" : "\n" + table_text(rows);
}

std::string hidden_text(const json::object& counts) {
  const std::pair<const char*, const char*> all[] = {{"starts", "would start"},
                                                     {"reserves", "would get quota"},
                                                     {"evicted", "would be evicted"},
                                                     {"ends", "would end"},
                                                     {"turnedOff", "would be turned off"}};
  std::string out;
  for (const auto& [name, said] : all)
    if (const auto count = api::find_int(counts, name))
      out += fmt::format("\n{} workload{} of other namespaces {}\n", *count, *count == 1 ? "" : "s",
                         said);
  return out;
}

}  // namespace

std::string what_if_text(const json::object& document) {
  const json::object& status = part(document, "status");
  if (part(document, "spec").contains("waiting")) return queue_of_starts_text(status);
  std::string out;
  for_each_object(status, "workloads", [&](const json::object& told) {
    out += (out.empty() ? "" : "\n") + workload_text(status, told);
  });
  const json::object& changes = part(status, "changes");
  out += change_text(changes, "evicted", "WOULD BE EVICTED");
  out += change_text(changes, "starts", "WOULD START");
  out += change_text(changes, "reserves", "WOULD GET QUOTA");
  out += change_text(changes, "ends", "WOULD END");
  out += change_text(changes, "turnedOff", "WOULD BE TURNED OFF");
  out += hidden_text(part(changes, "otherNamespaces"));
  if (changes.empty())
    out +=
        fmt::format("{}No other workload would start, or be evicted.\n", out.empty() ? "" : "\n");
  out += bullets_text(status, "uncertain", "Not known here");
  out += bullets_text(status, "warnings", "Warnings");
  return out;
}

}  // namespace sluice::host
