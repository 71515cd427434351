#include "host/controllers/jobs/pods_ready.hpp"

#include <string_view>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// What else the condition has stays. False: its reason is this one already.
bool say(json::object& status, bool ready, std::string_view reason, std::string_view message,
         Time now) {
  const json::object* before = find_condition(status, "PodsReady");
  if (before && condition_says(before, ready, reason, api::find_text(*before, "message")))
    return false;
  json::object said = make_condition("PodsReady", ready, reason, message, now);
  if (!before) return put_condition(status, std::move(said));
  json::object next = *before;
  for (json::key_value_pair& member : said) next[member.key()] = std::move(member.value());
  return put_condition(status, std::move(next));
}

}  // namespace

bool set_pods_ready(json::object& status, bool ready, Time now) {
  const json::object* before = find_condition(status, "PodsReady");
  const std::string_view last = before ? api::find_text(*before, "reason") : std::string_view();
  const bool were_ready = before && api::find_text(*before, "status") == "True";
  if (ready) {
    const bool recovered = last == "WaitForRecovery" || (were_ready && last == "Recovered");
    return say(status, true, recovered ? "Recovered" : "Started",
               "All pods reached readiness and the workload is running", now);
  }
  const bool recovers = were_ready || last == "WaitForRecovery";
  return recovers ? say(status, false, "WaitForRecovery",
                        "At least one pod has failed, waiting for recovery", now)
                  : say(status, false, "WaitForStart", "Not all pods are ready or succeeded", now);
}

}  // namespace sluice::host
