// What the budget check decides, without a host: plain functions of plain values.
//
// Stateless; any thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <ctime>
#include <map>
#include <sluice/plugin.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace budget {

/// Units used this week, by namespace.
using Consumption = std::map<std::string, double, std::less<>>;

constexpr std::int64_t kSecond = 1'000'000'000;

/// Seconds since Monday 00:00 UTC. 1970-01-05 was a Monday.
inline std::int64_t seconds_of_week(std::int64_t now) {
  constexpr std::int64_t kDay = 86'400;
  return (now / kSecond - 4 * kDay) % (7 * kDay);
}

/// The query with `$week` replaced by the range from the beginning of the week until now.
inline std::string query_for(std::string query, std::int64_t now) {
  constexpr std::string_view kWeek = "$week";
  const std::string range = std::to_string(std::max<std::int64_t>(1, seconds_of_week(now))) + "s";
  for (std::size_t at = 0; (at = query.find(kWeek, at)) != query.npos; at += range.size())
    query.replace(at, kWeek.size(), range);
  return query;
}

/// Monday 00:00 UTC of this week, as the API writes times.
inline std::string monday(std::int64_t now) {
  const std::time_t seconds = now / kSecond - seconds_of_week(now);
  std::tm date{};
  ::gmtime_r(&seconds, &date);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &date)};
}

/// Hours for which namespaces held a resource since Monday, as a host's history answers
/// groupBy=namespace. Throws when it is something else.
inline Consumption hours_of(const std::string& body, std::string_view resource) {
  const sluice::Json json = sluice::Json::parse(body);
  const sluice::Json* groups = json.member("groups");
  if (groups == nullptr)
    throw std::runtime_error("the host says: " + json.string_or("message", "no history"));
  Consumption used;
  for (const sluice::Json& group : groups->items()) {
    const sluice::Json* held = group.member("heldHours");
    const sluice::Json* hours = held == nullptr ? nullptr : held->member(resource);
    if (hours == nullptr) continue;
    const std::string& text = hours->as_string();  // the number as it is written
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc())
      used[group.string_or("group.namespace", "")] += value;
  }
  return used;
}

/// An instant vector, as Prometheus answers /api/v1/query. Throws when it is something else.
inline Consumption consumption_of(const std::string& body, std::string_view label) {
  const sluice::Json json = sluice::Json::parse(body);
  if (json.string_or("status", "") != "success")
    throw std::runtime_error("Prometheus says: " + json.string_or("error", "no success"));
  const sluice::Json* result = json.find("data.result");
  if (result == nullptr || json.string_or("data.resultType", "") != "vector")
    throw std::runtime_error("the query gives no vector");
  Consumption used;
  for (const sluice::Json& sample : result->items()) {
    const sluice::Json* metric = sample.find("metric");
    const sluice::Json* name = metric == nullptr ? nullptr : metric->member(label);
    if (name == nullptr) continue;
    const std::string text = sample.string_or("value.1", "");
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc())
      used[name->as_string()] += value;
  }
  return used;
}

enum class Verdict : std::uint8_t { kUnknown, kHold, kRun };

struct Decision {
  Verdict verdict = Verdict::kUnknown;
  std::string message;
};

/// `limit` is nullptr without a Budget, `used` without figures.
inline Decision decide(std::string_view ns, const std::int64_t* limit, const Consumption* used) {
  if (limit == nullptr) return {Verdict::kHold, "namespace " + std::string(ns) + " has no Budget"};
  if (used == nullptr) return {Verdict::kUnknown, "what was used this week is not known yet"};
  const auto it = used->find(ns);
  const auto spent = static_cast<std::int64_t>(it == used->end() ? 0 : it->second);
  const std::string figures =
      std::to_string(spent) + " of " + std::to_string(*limit) + " used this week";
  if (spent >= *limit) return {Verdict::kHold, figures + ", waiting for more budget"};
  return {Verdict::kRun, figures};
}

}  // namespace budget
