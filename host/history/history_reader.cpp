#include "host/history/history_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "api/json/json.hpp"
#include "host/history/sums.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kApiVersion = "sluice.dev/v1alpha1";
constexpr std::size_t kLookAtClock = 1'024;  // rows, or stretches of time
constexpr double kHourMs = 3'600'000;

ApiError too_long(const HistoryReadLimits& limits) {
  ApiError out;
  out.code = 504;
  out.reason = "Timeout";
  out.text = fmt::format(
      "the query was not answered within {} ms: ask for less time (from, to) or for one namespace",
      limits.time.count());
  return out;
}

ApiError of_file(const Error& error) { return unavailable("the history: " + error.text, 1); }

/// Six digits behind the point: a fraction of a second in hours is not lost.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

/// In the unit that people and the metrics use: cores, else the resource's own.
double in_units(std::string_view resource, double amount) {
  return resource == "cpu" ? amount / 1'000 : amount;
}

std::optional<RowFilter> filter_of(const HistoryQuery& query, const HistoryNames& names) {
  RowFilter out;
  const std::pair<const std::string*, NameId*> filters[] = {
      {&query.user, &out.user},
      {&query.queue, &out.queue},
      {&query.cluster_queue, &out.cluster_queue},
      {&query.flavor, &out.flavor}};
  for (const auto& [text, into] : filters) {
    *into = names.find(*text);
    if (!text->empty() && *into == 0) return std::nullopt;  // this name never occurred
  }
  return out;
}

std::string_view outcome_text(Outcome outcome) {
  return outcome == Outcome::kGoesOn ? "Running" : to_text(outcome);
}

/// 2026-01, 2026-01-31 or 2026-01-31T13:00:00Z.
std::string time_text(GroupBy by, Millis begin) {
  const std::string whole = format_time(from_millis(begin));
  if (by == GroupBy::kMonth) return whole.substr(0, 7);
  return by == GroupBy::kDay ? whole.substr(0, 10) : whole;
}

std::string value_text(GroupBy by, std::int64_t first, std::int64_t second,
                       const HistoryNames& names) {
  if (by == GroupBy::kQueue) return names.text(first) + "/" + names.text(second);
  if (by == GroupBy::kOutcome) return std::string(outcome_text(static_cast<Outcome>(first)));
  return is_time(by) ? time_text(by, first) : names.text(first);
}

json::object sum_json(const Sum& sum, const HistoryNames& names) {
  const auto ended = [&](Outcome how) { return sum.ended[static_cast<std::size_t>(how)]; };
  json::object held;
  std::vector<std::pair<std::string, double>> amounts;
  for (const ResourceSum& each : sum.held)
    amounts.emplace_back(names.text(each.resource), each.amount_ms);
  std::sort(amounts.begin(), amounts.end());
  for (const auto& [resource, amount] : amounts)
    held[resource] = rounded(in_units(resource, amount) / kHourMs);
  json::object out{{"started", sum.started},
                   {"running", sum.running},
                   {"finished", ended(Outcome::kFinished)},
                   {"failed", ended(Outcome::kFailed)},
                   {"evicted", ended(Outcome::kEvicted)},
                   {"reservationsLost", ended(Outcome::kLost)},
                   {"deleted", ended(Outcome::kDeleted)},
                   {"superseded", ended(Outcome::kSuperseded)},
                   {"waitSeconds", rounded(static_cast<double>(sum.wait_ms) / 1'000)},
                   {"longestWaitSeconds", rounded(static_cast<double>(sum.wait_ms_max) / 1'000)},
                   {"runSeconds", rounded(sum.run_ms / 1'000)},
                   {"heldHours", std::move(held)}};
  // Of the runs of which it is known: both, so that one can be divided by the other.
  out["cpuUsedHours"] = rounded(sum.cpu_us / 1'000 / kHourMs);
  out["cpuHeldHoursWhereUseIsKnown"] = rounded(sum.cpu_milli_ms_known / 1'000 / kHourMs);
  out["memoryPeakBytes"] = sum.memory_peak;
  return out;
}

void set_time(json::object& object, std::string_view field, Millis time) {
  if (time != 0) object[api::json_view(field)] = format_time(from_millis(time));
}

json::object run_json(const Run& run, Millis now) {
  json::array holds;
  for (const HeldAmount& each : run.holds) {
    HeldRow row{0, 0, each.most, each.now, each.spent};
    RunRow times;
    times.ended = run.ended;
    times.since = run.since;
    const double hours = in_units(each.resource, held_in_all(times, row, now)) / kHourMs;
    holds.push_back(
        json::object{{"flavor", each.flavor},
                     {"resource", each.resource},
                     {"amount", in_units(each.resource, static_cast<double>(each.most))},
                     {"hours", rounded(hours)}});
  }
  json::object out{
      {"kind", "Run"},
      {"apiVersion", kApiVersion},
      {"metadata",
       json::object{{"name", fmt::format("{}.{}", run.name, run.number)},
                    {"namespace", run.ns},
                    {"creationTimestamp", format_time(from_millis(run.queued / 1'000 * 1'000))}}},
      {"workload", run.name},
      {"workloadUID", run.uid},
      {"number", run.number},
      {"queueName", run.queue}};
  const std::pair<const char*, const std::string*> texts[] = {
      {"jobKind", &run.job_kind},
      {"job", &run.job},
      {"clusterQueue", &run.cluster_queue},
      {"priorityClass", &run.priority_class},
      {"user", &run.user},
      {"reason", &run.reason}};
  for (const auto& [field, text] : texts)
    if (!text->empty()) out[field] = *text;
  set_time(out, "created", run.created);
  set_time(out, "queued", run.queued);
  set_time(out, "reserved", run.reserved);
  set_time(out, "admitted", run.admitted);
  set_time(out, "ended", run.ended);
  out["outcome"] = api::json_view(outcome_text(run.outcome));
  if (!holds.empty()) out["holds"] = std::move(holds);
  if (run.used.pods != 0)
    out["used"] = json::object{{"pods", run.used.pods},
                               {"cpuSeconds", rounded(static_cast<double>(run.used.cpu_us) / 1e6)},
                               {"memoryPeakBytes", run.used.memory_peak}};
  return out;
}

json::object stretch_json(const QuotaStretch& stretch) {
  json::array quotas;
  for (const QuotaAmount& each : stretch.quotas) {
    const auto amount = [&](std::int64_t value) {
      return in_units(each.resource, static_cast<double>(value));
    };
    json::object quota{
        {"flavor", each.flavor}, {"resource", each.resource}, {"nominal", amount(each.nominal)}};
    if (each.borrowing_limit) quota["borrowingLimit"] = amount(*each.borrowing_limit);
    if (each.lending_limit) quota["lendingLimit"] = amount(*each.lending_limit);
    quotas.push_back(std::move(quota));
  }
  const std::string_view name = stretch.holder;
  json::object out;
  if (is_of_cohort(name))
    out["cohort"] = api::json_view(name.substr(kCohortMark.size()));
  else
    out["clusterQueue"] = api::json_view(name);
  set_time(out, "from", stretch.since);
  set_time(out, "to", stretch.until);
  out["quotas"] = std::move(quotas);
  return out;
}

}  // namespace

Result<std::unique_ptr<HistoryReader>> HistoryReader::open(const std::string& path,
                                                           HistoryReadLimits limits) {
  auto database = Database::open(path, Database::Mode::kRead);
  if (!database) return database.error();
  std::unique_ptr<HistoryReader> out(new HistoryReader);
  out->database_ = std::move(*database);
  out->limits_ = limits;
  for (const char* setting : {"PRAGMA cache_size = -16384", "PRAGMA mmap_size = 1073741824"})
    if (auto set = out->database_.text(setting); !set) return set.error();
  return out;
}

/// Names and rows of one moment.
ApiResult<json::object> HistoryReader::of_one_moment(
    const std::function<ApiResult<json::object>()>& read) {
  if (auto begun = database_.execute("BEGIN"); !begun) return of_file(begun.error());
  auto out = [&]() -> ApiResult<json::object> {
    if (auto names = names_.read(database_); !names) return of_file(names.error());
    return read();
  }();
  static_cast<void>(database_.execute("ROLLBACK"));
  return out;
}

ApiResult<json::object> HistoryReader::answer(const HistoryQuery& query, Millis now) {
  const Deadline deadline = std::chrono::steady_clock::now() + limits_.time;
  return of_one_moment(
      [&] { return query.sums ? sums(query, now, deadline) : runs(query, now, deadline); });
}

ApiResult<json::object> HistoryReader::quotas(const HistoryQuery& query) {
  return of_one_moment([&]() -> ApiResult<json::object> {
    const bool of_cohorts = !query.cohort.empty();
    const std::string one = !of_cohorts                   ? query.cluster_queue
                            : query.cohort == kAllCohorts ? std::string()
                                                          : std::string(kCohortMark) + query.cohort;
    const NameId queue = names_.find(one);
    json::array items;
    auto rows = database_.prepare(
        fmt::format("SELECT {} FROM quotas WHERE since < ?1 AND (until = 0 OR until > ?2) {}",
                    kQuotaColumns, one.empty() ? "" : "AND cluster_queue = ?3")
            .c_str());
    if (!rows) return of_file(rows.error());
    rows->bind(1, query.to);
    rows->bind(2, query.from);
    if (!one.empty()) rows->bind(3, queue);
    std::vector<QuotaStretch> found;
    for (;;) {
      const auto row = rows->step();
      if (!row) return of_file(row.error());
      if (!*row) break;
      QuotaStretch stretch = read_quotas(*rows, names_);
      if (is_of_cohort(stretch.holder) != of_cohorts) continue;
      if (found.size() == limits_.stretches)
        return bad_request(fmt::format(
            "from: quotas were changed more than {} times since then: ask for less time (from, to) "
            "or for one clusterQueue or cohort",
            limits_.stretches));
      found.push_back(std::move(stretch));
    }
    std::sort(found.begin(), found.end(), [](const QuotaStretch& a, const QuotaStretch& b) {
      return std::tie(a.holder, a.since) < std::tie(b.holder, b.since);
    });
    for (const QuotaStretch& stretch : found) items.push_back(stretch_json(stretch));
    return json::object{{"kind", "QuotaHistory"},
                        {"apiVersion", kApiVersion},
                        {"metadata", json::object()},
                        {"items", std::move(items)}};
  });
}

Result<std::map<std::string, std::vector<Duration>>> HistoryReader::run_times(
    std::size_t rows, std::size_t of_queue) {
  if (auto read = names_.read(database_); !read) return read.error();
  auto found = database_.prepare(
      "SELECT ns, queue, admitted, ended FROM (SELECT * FROM runs ORDER BY id DESC LIMIT ?1) "
      "WHERE outcome = ?2 AND admitted > 0");
  if (!found) return found.error();
  found->bind(1, static_cast<std::int64_t>(rows));
  found->bind(2, static_cast<std::int64_t>(Outcome::kFinished));
  std::map<std::string, std::vector<Duration>> out;
  for (;;) {
    const auto row = found->step();
    if (!row) return row.error();
    if (!*row) return out;
    std::vector<Duration>& times =
        out[join_key(names_.text(found->integer(0)), names_.text(found->integer(1)))];
    if (times.size() < of_queue)
      times.push_back(from_millis(found->integer(3) - found->integer(2)));
  }
}

ApiResult<json::object> HistoryReader::sums(const HistoryQuery& query, Millis now,
                                            Deadline deadline) {
  if (auto fits = check_window(query, now); !fits) return bad_request(fits.error().text);
  const auto filter = filter_of(query, names_);
  Sums sums(query, filter.value_or(RowFilter()), names_.find("cpu"), now);
  // The whole table is read in its own order, not in that of an index.
  const std::string where = !query.ns.empty() ? "WHERE ns = ?1"
                            : query.from != 0 ? "WHERE ended = 0 OR ended >= ?1"
                                              : "NOT INDEXED";
  auto rows = database_.prepare(fmt::format("SELECT {} FROM runs {}", kRowColumns, where).c_str());
  if (!rows) return of_file(rows.error());
  const NameId ns = names_.find(query.ns);
  if (!query.ns.empty())
    rows->bind(1, ns);
  else if (query.from != 0)
    rows->bind(1, query.from);
  const bool any = filter.has_value() && (query.ns.empty() || ns != 0);
  RunRow row;
  std::size_t looked = 0;
  while (any) {
    const auto found = rows->step();
    if (!found) return of_file(found.error());
    if (!*found) break;
    read_row(*rows, row);
    sums.add(row);
    if (sums.groups().size() > limits_.groups)
      return bad_request(
          fmt::format("groupBy: the answer has more than {} groups: ask for less", limits_.groups));
    if (sums.work() - looked < kLookAtClock) continue;
    looked = sums.work();
    if (std::chrono::steady_clock::now() > deadline) return too_long(limits_);
  }
  std::vector<std::pair<std::vector<std::string>, const Sum*>> groups;
  for (const auto& [key, sum] : sums.groups()) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < query.by.size(); ++i)
      values.push_back(value_text(query.by[i], key.first[i], key.second[i], names_));
    groups.emplace_back(std::move(values), &sum);
  }
  std::sort(groups.begin(), groups.end());
  json::array by, out;
  for (const GroupBy each : query.by) by.push_back(api::json_view(to_text(each)));
  for (const auto& [values, sum] : groups) {
    json::object group;
    for (std::size_t i = 0; i < values.size(); ++i)
      group[api::json_view(to_text(query.by[i]))] = values[i];
    json::object entry = sum_json(*sum, names_);
    entry["group"] = std::move(group);
    out.push_back(std::move(entry));
  }
  return json::object{{"kind", "RunSummary"},       {"apiVersion", kApiVersion},
                      {"metadata", json::object()}, {"groupBy", std::move(by)},
                      {"groups", std::move(out)},   {"total", sum_json(sums.total(), names_)}};
}

ApiResult<json::object> HistoryReader::runs(const HistoryQuery& query, Millis now,
                                            Deadline deadline) {
  const auto filter = filter_of(query, names_);
  const NameId ns = names_.find(query.ns);
  std::string sql = fmt::format("SELECT {}, {} FROM runs WHERE id < ?1 {} ORDER BY id DESC",
                                kRowColumns, kRunColumns, query.ns.empty() ? "" : "AND ns = ?2");
  auto rows = database_.prepare(sql.c_str());
  if (!rows) return of_file(rows.error());
  rows->bind(1, query.after != 0 ? query.after : std::numeric_limits<std::int64_t>::max());
  if (!query.ns.empty()) rows->bind(2, ns);
  constexpr int kId = 16 + 6;  // the last of the columns
  json::array items;
  std::int64_t last = 0;
  bool more = false;
  RunRow row;
  const bool any = filter.has_value() && (query.ns.empty() || ns != 0);
  for (std::size_t n = 0; any; ++n) {
    const auto found = rows->step();
    if (!found) return of_file(found.error());
    if (!*found) break;
    if (n % kLookAtClock == 0 && std::chrono::steady_clock::now() > deadline)
      return too_long(limits_);
    read_row(*rows, row);
    const Millis end = row.ended != 0 ? row.ended : std::max(now, row.since);
    if (!filter->takes(row) || end < query.from || row.queued >= query.to) continue;
    if (static_cast<std::int64_t>(items.size()) == query.limit) {
      more = true;
      break;
    }
    last = rows->integer(kId);
    items.push_back(run_json(read_run(*rows, names_), now));
  }
  json::object metadata;
  if (more) metadata["continue"] = std::to_string(last);
  return json::object{{"kind", "RunList"},
                      {"apiVersion", kApiVersion},
                      {"metadata", std::move(metadata)},
                      {"items", std::move(items)}};
}

}  // namespace sluice::host
