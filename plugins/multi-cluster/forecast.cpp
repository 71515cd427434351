#include "forecast.hpp"

#include <algorithm>
#include <tuple>

#include "refusals.hpp"

namespace clusters {

using sluice::Json;

namespace {

/// In milliseconds, so that the time between any two of them is a number.
std::optional<std::int64_t> milliseconds_of(const std::string& text) {
  const auto time = sluice::parse_time(text);
  return time ? std::optional(*time / kMillisecond) : std::nullopt;
}

std::optional<std::int64_t> after(const std::optional<std::int64_t>& now, const Json& told,
                                  const char* path) {
  const auto then = milliseconds_of(told.string_or(path, ""));
  return now && then ? std::optional(std::max<std::int64_t>(0, *then - *now)) : std::nullopt;
}

Forecast read_forecast(const Json& told, const std::optional<std::int64_t>& now) {
  Forecast out;
  const std::string decision = told.string_or("decision", "");
  if (decision == "Starts" || decision == "Runs") out.when = Forecast::When::kNow;
  if (decision == "WaitsForChecks") out.when = Forecast::When::kAfterChecks;
  if (decision != "Waits") return out;
  out.when = Forecast::When::kLater;
  out.earliest_ms = after(now, told, "start.earliest");
  out.latest_ms = after(now, told, "start.latest");
  return out;
}

/// Less is sooner. What is sure at the latest counts more than what may be.
auto rank(const Forecast& forecast, bool evicts) {
  return std::tuple(forecast.when, evicts, forecast.latest_ms.value_or(INT64_MAX),
                    forecast.earliest_ms.value_or(INT64_MAX));
}

/// Who starts it first; nullptr: nobody who tells ever does.
const Outlook* soonest(const std::string& workload, const std::vector<Outlook>& outlooks) {
  const Outlook* best = nullptr;
  const auto of = [&](const Outlook& outlook) {
    return rank(outlook.workloads.at(workload), outlook.evicts);
  };
  for (const Outlook& each : outlooks) {
    const auto found = each.workloads.find(workload);
    if (found == each.workloads.end() || found->second.when == Forecast::When::kNever) continue;
    if (best == nullptr || of(each) < of(*best)) best = &each;
  }
  return best;
}

std::vector<std::string> with_those_that_do_not_tell(const Outlook* best,
                                                     const std::vector<Outlook>& outlooks) {
  std::vector<std::string> out;
  for (const Outlook& each : outlooks)
    if (best == nullptr || &each == best || !each.told) out.push_back(each.cluster);
  return out;
}

}  // namespace

Json question_about(const std::vector<Json>& copies, bool estimate) {
  Json out = Json::object();
  out["apiVersion"] = kWhatIfVersion;
  out["kind"] = kWhatIfKind;
  out["spec"]["objects"] = Json::array();
  for (const Json& copy : copies) out["spec"]["objects"].push_back(copy);
  out["spec"]["estimate"] = estimate;
  return out;
}

Outlook read_outlook(const std::string& cluster, const Json& answer) {
  Outlook out;
  out.cluster = cluster;
  const Json* workloads = answer.find("status.workloads");
  if (workloads == nullptr || !workloads->is_array()) return out;
  out.told = true;
  const auto now = milliseconds_of(answer.string_or("status.time", ""));
  for (const Json& told : workloads->items())
    out.workloads[told.string_or("object.namespace", "") + "/" +
                  told.string_or("object.name", "")] = read_forecast(told, now);
  const Json* evicted = answer.find("status.changes.evicted");
  out.evicts = evicted != nullptr && evicted->size() > 0;
  return out;
}

std::vector<Assignment> assign(const std::vector<std::string>& workloads,
                               const std::vector<Outlook>& outlooks, bool final) {
  std::vector<Assignment> out;
  const bool anybody_tells =
      std::any_of(outlooks.begin(), outlooks.end(), [](const Outlook& each) { return each.told; });
  for (const std::string& workload : workloads) {
    const Outlook* best = soonest(workload, outlooks);
    const bool now = best != nullptr && best->workloads.at(workload).when == Forecast::When::kNow;
    if (now) {
      out.push_back({workload, {best->cluster}});
      continue;
    }
    // Those before it went elsewhere, so what was said of it is out of date; or more is to be
    // asked.
    if (anybody_tells && (!out.empty() || !final)) break;
    out.push_back({workload, with_those_that_do_not_tell(best, outlooks)});
  }
  return out;
}

}  // namespace clusters
