#include "host/history/text.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "core/base/time.hpp"
#include "host/base/table_text.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using Row = std::vector<std::string>;

double number(const json::object& object, std::string_view key) {
  const json::value* found = api::find(object, key);
  return found && found->is_number() ? found->to_number<double>() : 0;
}

/// nvidia.com/gpu, amd.com/gpu, gpu, …
bool is_gpu(std::string_view resource) {
  return resource == "gpu" || resource.ends_with("/gpu") || resource.starts_with("nvidia.com/mig-");
}

double gpu_hours(const json::object& held) {
  double out = 0;
  for (const auto& [resource, hours] : held)
    if (is_gpu(api::view(resource)) && hours.is_number()) out += hours.to_number<double>();
  return out;
}

/// With two digits behind the point, or what is left of less.
std::string hours_text(double hours) {
  return hours == 0      ? "0"
         : hours < 0.005 ? fmt::format("{:.2g}", hours)
                         : fmt::format("{:.2f}", hours);
}

std::string seconds_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f}s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 120) return fmt::format("{}s", whole);
  if (whole < 7'200) return fmt::format("{}m{}s", whole / 60, whole % 60);
  if (whole < 172'800) return fmt::format("{}h{}m", whole / 3'600, whole % 3'600 / 60);
  return fmt::format("{}d{}h", whole / 86'400, whole % 86'400 / 3'600);
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti"};
  std::size_t unit = 0;
  for (; bytes >= 1'024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1'024;
  return fmt::format("{:.0f}{}", bytes, kUnits[unit]);
}

std::string upper(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') out += '-';
    out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  }
  return out;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

// ---- sums

const json::array& list(const json::object& object, std::string_view key) {
  static const json::array kNone;
  const json::array* found = api::find_array(object, key);
  return found ? *found : kNone;
}

Row sum_cells(const json::object& sum) {
  const double started = number(sum, "started");
  const double used = number(sum, "cpuUsedHours");
  const double known = number(sum, "cpuHeldHoursWhereUseIsKnown");
  const json::object& held = part(sum, "heldHours");
  const auto count = [&](std::string_view key) { return fmt::format("{:.0f}", number(sum, key)); };
  return {count("started"),
          count("running"),
          count("finished"),
          count("failed"),
          count("evicted"),
          started > 0 ? seconds_text(number(sum, "waitSeconds") / started) : "-",
          started > 0 ? seconds_text(number(sum, "longestWaitSeconds")) : "-",
          hours_text(number(held, "cpu")),
          hours_text(gpu_hours(held)),
          known > 0 ? hours_text(used) : "-",
          known > 0 ? fmt::format("{:.0f}%", 100 * used / known) : "-",
          known > 0 ? bytes_text(number(sum, "memoryPeakBytes")) : "-"};
}

std::string summary_table(const json::object& answer) {
  const json::array& by = list(answer, "groupBy");
  Row head;
  for (const json::value& each : by)
    if (each.is_string()) head.push_back(upper(api::view(each.get_string())));
  const std::size_t keys = head.size();
  for (const char* name : {"STARTED", "RUNNING", "FINISHED", "FAILED", "EVICTED", "WAIT", "LONGEST",
                           "CORE-H", "GPU-H", "USED-CORE-H", "USED", "MEMORY"})
    head.emplace_back(name);
  std::vector<Row> rows{head};
  const auto add = [&](Row row, const json::object& sum) {
    for (std::string& cell : sum_cells(sum)) row.push_back(std::move(cell));
    rows.push_back(std::move(row));
  };
  for_each_object(answer, "groups", [&](const json::object& sum) {
    Row row;
    for (const json::value& each : by)
      if (each.is_string())
        row.push_back(or_dash(text_in(part(sum, "group"), api::view(each.get_string()))));
    add(std::move(row), sum);
  });
  if (keys == 0 || list(answer, "groups").size() > 1) {
    Row row(keys);
    if (keys > 0) row.front() = "all";
    if (keys == 0) rows.resize(1);
    add(std::move(row), part(answer, "total"));
  }
  return table_text(rows);
}

// ---- runs

double seconds_between(const json::object& run, std::string_view from, std::string_view to) {
  const auto begin = api::find_time(run, from), end = api::find_time(run, to);
  return begin && end ? static_cast<double>(*end - *begin) / kSecond : 0;
}

std::string runs_table(const json::object& answer) {
  std::vector<Row> rows{{"NAMESPACE", "NAME", "USER", "QUEUE", "QUEUED", "WAIT", "RAN", "OUTCOME",
                         "CORE-H", "GPU-H", "USED-CPU"}};
  for_each_object(answer, "items", [&](const json::object& run) {
    double cores = 0, gpus = 0;
    for_each_object(run, "holds", [&](const json::object& held) {
      const std::string resource = text_in(held, "resource");
      if (resource == "cpu") cores += number(held, "hours");
      if (is_gpu(resource)) gpus += number(held, "hours");
    });
    const std::string job = text_in(run, "job"), reason = text_in(run, "reason");
    const bool started = run.contains("admitted"), ended = run.contains("ended");
    std::string outcome = text_in(run, "outcome");
    if ((outcome == "Evicted" || outcome == "Superseded") && !reason.empty())
      outcome += " (" + reason + ")";
    const json::object& used = part(run, "used");
    rows.push_back(
        {text_in(part(run, "metadata"), "namespace"),
         job.empty() ? text_in(run, "workload") : text_in(run, "jobKind") + "/" + job,
         or_dash(text_in(run, "user")), or_dash(text_in(run, "queueName")),
         text_in(run, "queued").substr(0, 19),
         started ? seconds_text(seconds_between(run, "queued", "admitted")) : "-",
         started && ended ? seconds_text(seconds_between(run, "admitted", "ended")) : "-", outcome,
         hours_text(cores), hours_text(gpus),
         used.empty() ? "-" : seconds_text(number(used, "cpuSeconds"))});
  });
  std::string out = table_text(rows);
  if (const std::string more = text_in(part(answer, "metadata"), "continue"); !more.empty())
    out += fmt::format("There are more: --continue {}\n", more);
  return out;
}

// ---- CSV

std::string csv_cell(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

void add_line(const Row& cells, std::string& out) {
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  out += "\r\n";
}

std::string plain(double value) { return fmt::format("{:.15g}", value); }  // bytes, to the last

std::string summary_csv(const json::object& answer) {
  constexpr std::string_view kSumNumbers[] = {
      "started",          "running", "finished",   "failed",      "evicted",
      "reservationsLost", "deleted", "superseded", "waitSeconds", "longestWaitSeconds",
      "runSeconds"};
  const json::array& by = list(answer, "groupBy");
  Row head;
  for (const json::value& each : by)
    if (each.is_string()) head.emplace_back(api::view(each.get_string()));
  for (const std::string_view name : kSumNumbers) head.emplace_back(name);
  for (const char* name :
       {"coreHours", "gpuHours", "cpuUsedHours", "cpuHeldHoursWhereUseIsKnown", "memoryPeakBytes"})
    head.emplace_back(name);
  std::string out;
  add_line(head, out);
  const auto add = [&](const json::object& sum) {
    Row row;
    for (const json::value& each : by)
      if (each.is_string())
        row.push_back(text_in(part(sum, "group"), api::view(each.get_string())));
    for (const std::string_view name : kSumNumbers) row.push_back(plain(number(sum, name)));
    const json::object& held = part(sum, "heldHours");
    row.push_back(plain(number(held, "cpu")));
    row.push_back(plain(gpu_hours(held)));
    for (const char* name : {"cpuUsedHours", "cpuHeldHoursWhereUseIsKnown", "memoryPeakBytes"})
      row.push_back(plain(number(sum, name)));
    add_line(row, out);
  };
  if (by.empty())
    add(part(answer, "total"));
  else
    for_each_object(answer, "groups", add);
  return out;
}

/// A line for each resource of each flavor that a run held, so that nothing is left out.
std::string runs_csv(const json::object& answer) {
  constexpr std::string_view kRunTexts[] = {
      "workload",  "workloadUID",  "number",        "jobKind", "job",    "user",
      "queueName", "clusterQueue", "priorityClass", "created", "queued", "reserved",
      "admitted",  "ended",        "outcome",       "reason"};
  Row head{"namespace"};
  for (const std::string_view name : kRunTexts) head.emplace_back(name);
  for (const char* name :
       {"flavor", "resource", "amount", "hours", "usedPods", "usedCpuSeconds", "memoryPeakBytes"})
    head.emplace_back(name);
  std::string out;
  add_line(head, out);
  for_each_object(answer, "items", [&](const json::object& run) {
    Row begin{text_in(part(run, "metadata"), "namespace")};
    for (const std::string_view name : kRunTexts)
      begin.push_back(name == "number" ? plain(number(run, name)) : text_in(run, name));
    const json::object& used = part(run, "used");
    const auto add = [&](const json::object& held) {
      Row row = begin;
      row.push_back(text_in(held, "flavor"));
      row.push_back(text_in(held, "resource"));
      for (const char* name : {"amount", "hours"})
        row.push_back(held.empty() ? "" : plain(number(held, name)));
      for (const char* name : {"pods", "cpuSeconds", "memoryPeakBytes"})
        row.push_back(used.empty() ? "" : plain(number(used, name)));
      add_line(row, out);
    };
    if (list(run, "holds").empty()) return add({});
    for_each_object(run, "holds", add);
  });
  return out;
}

// ---- quotas

constexpr std::string_view kLimits[] = {"nominal", "borrowingLimit", "lendingLimit"};

/// A limit that is not there is none.
std::string amount_text(const json::object& quota, std::string_view key) {
  if (!quota.contains(api::json_view(key))) return {};
  const double amount = number(quota, key);
  const std::string resource = text_in(quota, "resource");
  const bool bytes = resource == "memory" || resource.ends_with("storage");
  const double kibi = std::fmod(amount, 1'024);
  return bytes && amount != 0 && kibi == 0 ? bytes_text(amount) : plain(amount);
}

/// Whose quotas an answer tells; all of them are of one kind.
std::string_view holder_of(const json::object& answer) {
  const json::array& items = list(answer, "items");
  const json::object* first = items.empty() ? nullptr : items.front().if_object();
  return first != nullptr && first->contains("cohort") ? "cohort" : "clusterQueue";
}

std::string quotas_table(const json::object& answer) {
  const std::string_view holder = holder_of(answer);
  std::vector<Row> rows{{holder == "cohort" ? "COHORT" : "CLUSTERQUEUE", "FROM", "TO", "FLAVOR",
                         "RESOURCE", "NOMINAL", "BORROWING", "LENDING"}};
  for_each_object(answer, "items", [&](const json::object& stretch) {
    const std::string to = text_in(stretch, "to");
    const Row begin{text_in(stretch, holder), text_in(stretch, "from").substr(0, 19),
                    to.empty() ? "now" : to.substr(0, 19)};
    if (list(stretch, "quotas").empty()) rows.emplace_back(begin).resize(8, "-");
    for_each_object(stretch, "quotas", [&](const json::object& quota) {
      Row row = begin;
      row.push_back(text_in(quota, "flavor"));
      row.push_back(text_in(quota, "resource"));
      for (const std::string_view key : kLimits) row.push_back(or_dash(amount_text(quota, key)));
      rows.push_back(std::move(row));
    });
  });
  return table_text(rows);
}

std::string quotas_csv(const json::object& answer) {
  const std::string_view holder = holder_of(answer);
  std::string out;
  add_line({std::string(holder), "from", "to", "flavor", "resource", "nominal", "borrowingLimit",
            "lendingLimit"},
           out);
  for_each_object(answer, "items", [&](const json::object& stretch) {
    const Row begin{text_in(stretch, holder), text_in(stretch, "from"), text_in(stretch, "to")};
    for_each_object(stretch, "quotas", [&](const json::object& quota) {
      Row row = begin;
      row.push_back(text_in(quota, "flavor"));
      row.push_back(text_in(quota, "resource"));
      for (const std::string_view key : kLimits)
        row.push_back(quota.contains(api::json_view(key)) ? plain(number(quota, key)) : "");
      add_line(row, out);
    });
  });
  return out;
}

bool is(const json::object& answer, std::string_view kind) {
  return api::find_text(answer, "kind") == kind;
}

}  // namespace

std::string history_table(const json::object& answer) {
  if (is(answer, "QuotaHistory")) return quotas_table(answer);
  return is(answer, "RunList") ? runs_table(answer) : summary_table(answer);
}

std::string history_csv(const json::object& answer) {
  if (is(answer, "QuotaHistory")) return quotas_csv(answer);
  return is(answer, "RunList") ? runs_csv(answer) : summary_csv(answer);
}

}  // namespace sluice::host
