#include "host/controllers/jobs/pods_ready.hpp"

#include <string_view>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Replaces the condition of that type; false when it says so already.
bool set_condition(json::object& status, std::string_view type, bool value, std::string_view reason,
                   std::string_view message, Time now) {
  json::array& conditions = array_of(status, "conditions");
  const std::string_view text = value ? "True" : "False";
  for (auto& each : conditions) {
    json::object* condition = each.if_object();
    if (!condition || api::find_text(*condition, "type") != type) continue;
    const bool turned = api::find_text(*condition, "status") != text;
    if (!turned && api::find_text(*condition, "reason") == reason) return false;
    if (turned) (*condition)["lastTransitionTime"] = format_time(now);
    (*condition)["status"] = api::json_view(text);
    (*condition)["reason"] = api::json_view(reason);
    (*condition)["message"] = api::json_view(message);
    return true;
  }
  conditions.push_back(json::object{{"type", api::json_view(type)},
                                    {"status", api::json_view(text)},
                                    {"reason", api::json_view(reason)},
                                    {"message", api::json_view(message)},
                                    {"lastTransitionTime", format_time(now)}});
  return true;
}

}  // namespace

bool set_pods_ready(json::object& status, bool ready, Time now) {
  const json::object* before = find_condition(status, "PodsReady");
  const std::string_view last = before ? api::find_text(*before, "reason") : std::string_view();
  const bool were_ready = before && api::find_text(*before, "status") == "True";
  if (ready) {
    const bool recovered = last == "WaitForRecovery" || (were_ready && last == "Recovered");
    return set_condition(status, "PodsReady", true, recovered ? "Recovered" : "Started",
                         "All pods were ready or succeeded", now);
  }
  const bool recovers = were_ready || last == "WaitForRecovery";
  return set_condition(status, "PodsReady", false, recovers ? "WaitForRecovery" : "WaitForStart",
                       "Not all pods are ready or succeeded", now);
}

}  // namespace sluice::host
