#include "status.hpp"

#include <algorithm>

#include "sluice/cpp/time.hpp"

namespace pods {
namespace {

using sluice::Json;

constexpr const char* kPodsReady = "PodsReady";
constexpr const char* kReplacement = "WaitingForReplacementPods";

std::string text_of(const Json* condition, const char* field) {
  return condition == nullptr ? std::string() : condition->string_or(field, "");
}

Condition readiness(const Json& workload, bool ready) {
  const Json* before = sluice::find_condition(workload, kPodsReady);
  const std::string last = text_of(before, "reason");
  const bool was = text_of(before, "status") == "True";
  const char* kAll = "All pods reached readiness and the workload is running";
  if (ready) {
    const bool again = last == "WaitForRecovery" || (was && last == "Recovered");
    return {kPodsReady, true, again ? "Recovered" : "Started", kAll};
  }
  if (was || last == "WaitForRecovery")
    return {kPodsReady, false, "WaitForRecovery",
            "At least one pod has failed, waiting for recovery"};
  return {kPodsReady, false, "WaitForStart", "Not all pods are ready or succeeded"};
}

/// Whether pods are waited for, once any had to be; nullopt: that was never so.
std::optional<Condition> replacement(const Json& workload, std::int32_t absent) {
  if (absent > 0) {
    const Held held = workload_of(workload);
    if (held.stop_reason.empty())
      return Condition{kReplacement, true, "PodsFailed", "Some Failed pods need replacement"};
    return Condition{kReplacement, true, held.stop_reason, held.stop_message};
  }
  if (sluice::find_condition(workload, kReplacement) == nullptr) return std::nullopt;
  return Condition{kReplacement, false, kPodsReady, "No pods need replacement"};
}

bool says(const Json& workload, const Condition& condition) {
  const Json* present = sluice::find_condition(workload, condition.type);
  return text_of(present, "status") == (condition.value ? "True" : "False") &&
         text_of(present, "reason") == condition.reason;
}

/// With more of them where the plan has more: they only ever become more.
std::optional<Json> reclaimable(const Json& workload, const Plan& plan) {
  Json list = Json::array();
  bool changed = false;
  std::map<std::string, std::int32_t> left = plan.reclaimable;
  if (const Json* present = workload.find("status.reclaimablePods"))
    for (Json each : present->items()) {
      const auto found = left.find(each.string_or("name", ""));
      if (found != left.end() && found->second > each.int_or("count", 0)) {
        each["count"] = found->second;
        changed = true;
      }
      if (found != left.end()) left.erase(found);
      list.push_back(std::move(each));
    }
  for (const auto& [name, count] : left) {
    Json one = Json::object();
    one["name"] = name;
    one["count"] = count;
    list.push_back(std::move(one));
    changed = true;
  }
  return changed ? std::optional(std::move(list)) : std::nullopt;
}

}  // namespace

Json with_condition(const Json& object, const Condition& condition, std::int64_t now) {
  Json changed = Json::object();
  if (const Json* present = object.find("status.conditions"))
    changed["status"]["conditions"] = *present;
  sluice::set_condition(changed, condition.type, condition.value ? "True" : "False",
                        condition.reason, condition.message, now);
  return *changed.member("status");
}

Json status_of(const Json& workload, const Plan& plan, std::optional<bool> ready,
               std::int64_t now) {
  Json out = Json::object();
  Json changed = workload;
  const auto say = [&](const Condition& condition) {
    if (says(changed, condition)) return;
    const Json status = with_condition(changed, condition, now);
    changed["status"]["conditions"] = *status.member("conditions");
    out["conditions"] = *status.member("conditions");
  };
  if (ready) say(readiness(workload, *ready));
  if (const auto waiting = replacement(workload, plan.absent)) say(*waiting);
  if (auto list = reclaimable(workload, plan)) out["reclaimablePods"] = std::move(*list);
  return out;
}

}  // namespace pods
