#include "host/history/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "core/base/time.hpp"

namespace sluice::host {
namespace {

constexpr std::array<std::string_view, 13> kTexts = {
    "user",   "namespace", "queue",      "clusterQueue", "flavor", "priorityClass", "outcome",
    "reason", "minute",    "tenMinutes", "hour",         "day",    "month"};
constexpr std::int64_t kMostRuns = 5'000;
constexpr Millis kMinute = 60'000;
constexpr Millis kHour = 60 * kMinute;

Error refused(std::string_view name, const std::string& found, std::string_view allowed) {
  return Error{
      fmt::format("{}: Invalid value: \"{}\": must be {}", name, found.substr(0, 100), allowed)};
}

Result<void> read_time(const Parameters& parameters, std::string_view name, Millis& into) {
  const std::string* text = parameters(name);
  if (!text || text->empty()) return {};
  const auto time = parse_time(*text);
  if (!time) return refused(name, *text, "an RFC 3339 time, such as 2026-01-01T00:00:00Z");
  into = to_millis(*time);
  return {};
}

Result<void> read_number(const Parameters& parameters, std::string_view name, std::int64_t least,
                         std::int64_t& into) {
  const std::string* text = parameters(name);
  if (!text || text->empty()) return {};
  std::int64_t value = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (bad != std::errc() || end != text->data() + text->size() || value < least)
    return refused(name, *text, fmt::format("an integer of {} or more", least));
  into = value;
  return {};
}

Result<void> read_groups(const std::string& text, HistoryQuery& out) {
  out.sums = true;
  std::size_t times = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, comma - at);
    at = comma + 1;
    const auto found = std::find(kTexts.begin(), kTexts.end(), word);
    if (found == kTexts.end())
      return refused(
          "groupBy", text,
          "a list, with commas, of user, namespace, queue, clusterQueue, flavor, "
          "priorityClass, outcome, reason, minute, tenMinutes, hour, day, month; or empty "
          "for one sum");
    const auto by = static_cast<GroupBy>(found - kTexts.begin());
    if (is_time(by)) ++times;
    if (std::find(out.by.begin(), out.by.end(), by) == out.by.end()) out.by.push_back(by);
  }
  if (times > 1)
    return refused("groupBy", text,
                   "a list with one of minute, tenMinutes, hour, day and month at most");
  if (out.by.size() > kMostGroupings)
    return refused("groupBy", text, fmt::format("a list of {} at most", kMostGroupings));
  return {};
}

/// Of the times that are all of one length; 0: of the others.
Millis length_of(GroupBy time) {
  if (time == GroupBy::kMinute) return kMinute;
  if (time == GroupBy::kTenMinutes) return 10 * kMinute;
  return time == GroupBy::kHour ? kHour : 0;
}

std::chrono::year_month_day date_of(Millis moment) {
  const auto time =
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(moment));
  return std::chrono::floor<std::chrono::days>(time);
}

Millis begin_of_day(const std::chrono::year_month_day& date) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::sys_days(date).time_since_epoch())
      .count();
}

}  // namespace

std::string_view to_text(GroupBy by) { return kTexts[static_cast<std::size_t>(by)]; }

Result<HistoryQuery> parse_query(std::string ns, const Parameters& parameters) {
  HistoryQuery out;
  out.ns = std::move(ns);
  if (auto read = read_time(parameters, "from", out.from); !read) return read.error();
  if (auto read = read_time(parameters, "to", out.to); !read) return read.error();
  if (out.from >= out.to) return Error{"from: must be before to"};
  if (const std::string* by = parameters("groupBy"))
    if (auto read = read_groups(*by, out); !read) return read.error();
  const std::pair<std::string_view, std::string*> filters[] = {{"user", &out.user},
                                                               {"queue", &out.queue},
                                                               {"clusterQueue", &out.cluster_queue},
                                                               {"flavor", &out.flavor},
                                                               {"cohort", &out.cohort}};
  for (const auto& [name, into] : filters)
    if (const std::string* text = parameters(name)) *into = *text;
  if (!out.cohort.empty() && !out.cluster_queue.empty())
    return Error{"cohort: must not be given together with clusterQueue"};
  if (auto read = read_number(parameters, "limit", 1, out.limit); !read) return read.error();
  out.limit = std::min(out.limit, kMostRuns);
  if (auto read = read_number(parameters, "continue", 1, out.after); !read) return read.error();
  return out;
}

Millis begin_of(GroupBy time, Millis moment) {
  if (const Millis length = length_of(time)) return moment - moment % length;
  auto date = date_of(moment);
  if (time == GroupBy::kMonth) date = date.year() / date.month() / 1;
  return begin_of_day(date);
}

Millis end_of(GroupBy time, Millis moment) {
  const Millis begin = begin_of(time, moment);
  if (const Millis length = length_of(time)) return begin + length;
  if (time == GroupBy::kDay) return begin + 24 * kHour;
  auto date = date_of(moment);
  date += std::chrono::months(1);
  return begin_of_day(date.year() / date.month() / 1);
}

Result<void> check_window(const HistoryQuery& query, Millis now) {
  const auto by = std::find_if(query.by.begin(), query.by.end(), is_time);
  if (by == query.by.end() || *by >= GroupBy::kHour) return {};
  const Millis steps = (std::min(query.to, now) - query.from) / length_of(*by);
  if (steps <= kMostSteps) return {};
  return Error{
      fmt::format("from: by {} a window of {} of them is possible at most; this one has {}",
                  to_text(*by), kMostSteps, steps)};
}

}  // namespace sluice::host
