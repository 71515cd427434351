#include "host/simulate/report/other_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "api/json/json.hpp"
#include "host/simulate/record_sink.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::array kTypes = {
    DecisionType::kQuotaReserved, DecisionType::kAdmitted,          DecisionType::kEvicted,
    DecisionType::kPending,       DecisionType::kFinished,          DecisionType::kDeactivated,
    DecisionType::kRequeued,      DecisionType::kWaitingForVictims, DecisionType::kReservationLost,
    DecisionType::kCheckState,    DecisionType::kLowered,
};
constexpr std::array<std::string_view, 3> kOfNoWorkload = {"Summary", "State", "Skipped"};

std::optional<DecisionType> type_of(std::string_view name) {
  for (const DecisionType type : kTypes)
    if (record_name(type) == name) return type;
  return std::nullopt;
}

Error unknown_type(std::string_view name) {
  std::string all;
  for (const DecisionType type : kTypes) all += fmt::format("{}, ", record_name(type));
  return Error{fmt::format("type is \"{}\"; allowed: {}Skipped, State and Summary", name, all)};
}

Result<std::vector<api::PodSetAssignment>> pod_sets_of(const json::object& record) {
  const auto* list = api::find_array(record, "podSets");
  if (!list) return Error{"podSets is missing; it is a list of {name, count, flavors}"};
  std::vector<api::PodSetAssignment> out;
  for (const json::value& each : *list) {
    const auto* pods = each.if_object();
    const auto count = pods ? api::find_int32(*pods, "count") : std::nullopt;
    if (!pods || !count || *count < 0)
      return Error{"podSets has an entry that is no {name, count, flavors}"};
    auto& assignment = out.emplace_back();
    assignment.name = api::find_text(*pods, "name");
    assignment.count = *count;
    assignment.flavors = api::find_labels(*pods, "flavors");
  }
  return out;
}

Result<std::uint32_t> what_of(DecisionType type, const json::object& record, ReportTables& tables) {
  const auto text = [&record](const char* name) { return api::find_text(record, name); };
  switch (type) {
    case DecisionType::kQuotaReserved:
    case DecisionType::kLowered: {
      const auto pods = pod_sets_of(record);
      if (!pods) return pods.error();
      return tables.place(text("clusterQueue"), api::find_bool(record, "borrowing", false), *pods);
    }
    case DecisionType::kEvicted:
      return tables.reason(text("reason"), text("preemption"));
    case DecisionType::kCheckState:
      return tables.reason(text("check"),
                           text("message").empty()
                               ? std::string(text("state"))
                               : fmt::format("{}: {}", text("state"), text("message")));
    case DecisionType::kAdmitted:
    case DecisionType::kWaitingForVictims:
      return 0;
    default:
      return tables.reason(text("reason"), text("message"));
  }
}

}  // namespace

Result<OtherLog> OtherLog::read(const std::string& path, ReportTables& tables) {
  if (std::filesystem::is_directory(path)) return Error{path + ": is a folder; name a file"};
  std::ifstream in(path);
  if (!in) return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  return read(in, path, tables);
}

Result<OtherLog> OtherLog::read(std::istream& in, const std::string& path, ReportTables& tables) {
  OtherLog log;
  log.path_ = path;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    if (auto taken = log.take_line(line, tables); !taken)
      return Error{fmt::format("{}:{}: {}", path, number, taken.error().text)};
  }
  if (log.events_.empty())
    return Error{path + ": holds no decision; it must be a log as --log writes it"};
  return log;
}

Result<void> OtherLog::take_line(std::string_view line, ReportTables& tables) {
  json::error_code wrong;
  const json::value parsed = json::parse(api::json_view(line), wrong);
  const json::object* record = wrong ? nullptr : parsed.if_object();
  if (!record)
    return Error{"is no JSON object; a decision log as --log writes it has one on each line"};
  const std::string_view name = api::find_text(*record, "type");
  for (const auto other : kOfNoWorkload)
    if (name == other) return {};
  const auto type = type_of(name);
  if (!type) return unknown_type(name);
  const json::value* at = api::find(*record, "t");
  if (!at || !at->is_number()) return Error{"t is missing; it is the time in seconds"};
  const double seconds = at->to_number<double>();
  if (!(std::abs(seconds) <= 4e9)) return Error{fmt::format("t is {}; allowed: ±4e9", seconds)};
  const std::string_view key = api::find_text(*record, "workload");
  if (key.empty()) return Error{"workload is missing; it is NAMESPACE/NAME"};
  const auto what = what_of(*type, *record, tables);
  if (!what) return what.error();
  RunEvent event;
  event.at = std::llround(seconds * static_cast<double>(kSecond));
  event.workload = workload(key);
  event.type = static_cast<std::uint8_t>(*type);
  event.what = *what;
  if (const auto by = api::find_text(*record, "by"); !by.empty()) event.by = workload(by);
  events_.push_back(event);
  return {};
}

std::uint32_t OtherLog::workload(std::string_view key) {
  const auto [it, added] = ids_.emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (added) keys_.emplace_back(key);
  return it->second;
}

std::vector<RunEvent> OtherLog::join(RunRecord& run, ReportTables& tables) && {
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (std::uint32_t i = 0; i < run.workloads.size(); ++i)
    known.emplace(run.workloads[i].key, i);  // of several of one name, the first
  std::vector<std::uint32_t> here(keys_.size(), kNotThere);
  std::vector<ReportWorkload> strangers;
  const auto first_stranger = static_cast<std::uint32_t>(run.workloads.size());
  const auto joined = [&](std::uint32_t theirs, const RunEvent& event) {
    std::uint32_t& ours = here[theirs];
    if (ours != kNotThere) return ours;
    if (const auto it = known.find(keys_[theirs]); it != known.end()) return ours = it->second;
    ours = first_stranger + static_cast<std::uint32_t>(strangers.size());
    strangers.push_back({keys_[theirs], 0, 0, event.at, kNotThere, kNotThere});
    return ours;
  };
  for (RunEvent& event : events_) {
    event.workload = joined(event.workload, event);
    if (event.by != kNotThere) event.by = joined(event.by, event);
    if (static_cast<DecisionType>(event.type) != DecisionType::kQuotaReserved ||
        event.workload < first_stranger)
      continue;
    StringId& queue = strangers[event.workload - first_stranger].queue;
    if (queue == 0) queue = tables.places[event.what].queue;
  }
  known.clear();  // the keys that it names move
  for (ReportWorkload& each : strangers) run.workloads.push_back(std::move(each));
  return with_deletions(run);
}

/// Deletions come before what is decided in the same instant.
std::vector<RunEvent> OtherLog::with_deletions(const RunRecord& run) const {
  std::vector<bool> told(run.workloads.size());
  for (const RunEvent& event : events_) told[event.workload] = true;
  std::vector<RunEvent> all;
  for (const RunEvent& event : run.events)
    if (event.type == RunEvent::kGone && told[event.workload]) all.push_back(event);
  all.insert(all.end(), events_.begin(), events_.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const RunEvent& a, const RunEvent& b) { return a.at < b.at; });
  return all;
}

}  // namespace sluice::host
