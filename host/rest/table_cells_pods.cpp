// Cells of pods and nodes.
#include <algorithm>
#include <array>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/table.hpp"
#include "host/rest/table_cells.hpp"

namespace sluice::host::cells {

namespace json = boost::json;

namespace {

using api::find_text;

template <typename Each>
void for_objects(const json::object& holder, std::string_view key, Each each) {
  const json::array* list = api::find_array(holder, key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (const auto* object = (*list)[i].if_object()) each(*object);
  }
}

std::size_t count(const json::object& holder, std::string_view key) {
  const json::array* list = api::find_array(holder, key);
  return list != nullptr ? list->size() : 0;
}

/// `Error`, `Signal:9`, `ExitCode:3` of a container that ended.
std::string ended(const json::object& terminated) {
  if (const auto reason = find_text(terminated, "reason"); !reason.empty()) {
    return std::string(reason);
  }
  if (const auto signal = api::find_int(terminated, "signal"); signal && *signal != 0) {
    return "Signal:" + std::to_string(*signal);
  }
  return "ExitCode:" + std::to_string(api::find_int(terminated, "exitCode").value_or(0));
}

/// What the first init container that is not through says; empty when all are.
std::string init_status(const json::object& pod) {
  const json::object& status = part(pod, "status");
  std::string out;
  std::size_t index = 0;
  for_objects(status, "initContainerStatuses", [&](const json::object& each) {
    const std::size_t at = index++;
    if (!out.empty()) return;
    const json::object& state = part(each, "state");
    const json::object& terminated = part(state, "terminated");
    const std::string_view waiting = find_text(part(state, "waiting"), "reason");
    if (!terminated.empty()) {
      if (api::find_int(terminated, "exitCode").value_or(0) == 0) return;
      out = "Init:" + ended(terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      out = "Init:" + std::string(waiting);
    } else if (!api::find_bool(each, "started", false) ||
               find_text(each, "restartPolicy") != "Always") {
      out = "Init:" + std::to_string(at) + "/" +
            std::to_string(count(part(pod, "spec"), "initContainers"));
    }
  });
  return out;
}

std::string pod_phase(const json::object& pod) {
  const json::object& status = part(pod, "status");
  std::string reason(find_text(status, "phase"));
  if (const auto own = find_text(status, "reason"); !own.empty()) reason = own;
  if (const json::object* scheduled = condition(pod, "PodScheduled");
      scheduled != nullptr && find_text(*scheduled, "reason") == "SchedulingGated") {
    reason = "SchedulingGated";
  }
  // A pod that failed otherwise than by its init containers says so itself.
  const bool told = find_text(status, "phase") == "Failed" && reason != "Failed";
  if (std::string init = init_status(pod); !init.empty() && !told && reason != "Succeeded")
    return init;
  bool running = false;
  for_objects(status, "containerStatuses", [&](const json::object& each) {
    const json::object& state = part(each, "state");
    const std::string_view waiting = find_text(part(state, "waiting"), "reason");
    const json::object& terminated = part(state, "terminated");
    if (!waiting.empty()) {
      reason = waiting;
    } else if (!terminated.empty()) {
      reason = ended(terminated);
    } else if (api::find_bool(each, "ready", false) && api::find(state, "running") != nullptr) {
      running = true;
    }
  });
  if (reason == "Completed" && running) reason = is_true(pod, "Ready") ? "Running" : "NotReady";
  return reason;
}

void pod_status(const json::object& pod, Time, std::string& out) {
  const json::object& metadata = part(pod, "metadata");
  if (!find_text(metadata, "deletionTimestamp").empty()) {
    const bool lost = find_text(part(pod, "status"), "reason") == "NodeLost";
    return api::append_json_text(lost ? "Unknown" : "Terminating", out);
  }
  api::append_json_text(pod_phase(pod), out);
}

void pod_ready(const json::object& pod, Time, std::string& out) {
  std::size_t ready = 0;
  for_objects(part(pod, "status"), "containerStatuses", [&](const json::object& each) {
    if (api::find_bool(each, "ready", false)) ++ready;
  });
  api::append_json_text(
      std::to_string(ready) + "/" + std::to_string(count(part(pod, "spec"), "containers")), out);
}

void pod_restarts(const json::object& pod, Time now, std::string& out) {
  std::int64_t restarts = 0;
  std::string_view last;
  for_objects(part(pod, "status"), "containerStatuses", [&](const json::object& each) {
    restarts += api::find_int(each, "restartCount").value_or(0);
    const std::string_view at =
        find_text(part(part(each, "lastState"), "terminated"), "finishedAt");
    last = std::max(last, at);  // RFC 3339 in UTC sorts as time does
  });
  std::string text = std::to_string(restarts);
  if (restarts > 0 && !last.empty()) text += " (" + age_text(last, now) + " ago)";
  api::append_json_text(text, out);
}

void pod_ip(const json::object& pod, Time, std::string& out) {
  append_or_none(find_text(part(pod, "status"), "podIP"), out);
}

void pod_node(const json::object& pod, Time, std::string& out) {
  append_or_none(find_text(part(pod, "spec"), "nodeName"), out);
}

void pod_nominated(const json::object& pod, Time, std::string& out) {
  append_or_none(find_text(part(pod, "status"), "nominatedNodeName"), out);
}

void pod_gates(const json::object& pod, Time, std::string& out) {
  std::size_t met = 0;
  const std::size_t all = count(part(pod, "spec"), "readinessGates");
  for_objects(part(pod, "spec"), "readinessGates", [&](const json::object& gate) {
    if (is_true(pod, find_text(gate, "conditionType"))) ++met;
  });
  append_or_none(all == 0 ? "" : std::to_string(met) + "/" + std::to_string(all), out);
}

void node_status(const json::object& node, Time, std::string& out) {
  const json::object* ready = condition(node, "Ready");
  const std::string_view status = ready != nullptr ? find_text(*ready, "status") : "";
  std::string text = status == "True" ? "Ready" : status == "False" ? "NotReady" : "Unknown";
  if (api::find_bool(part(node, "spec"), "unschedulable", false)) text += ",SchedulingDisabled";
  api::append_json_text(text, out);
}

void node_roles(const json::object& node, Time, std::string& out) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const auto& label : part(part(node, "metadata"), "labels")) {
    const std::string_view key = api::view(label.key());
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
      roles.emplace_back(key.substr(kPrefix.size()));
    }
    const auto* value = label.value().if_string();
    if (key == "kubernetes.io/role" && value != nullptr) roles.emplace_back(api::view(*value));
  }
  std::sort(roles.begin(), roles.end());
  std::string text;
  for (const auto& role : roles) text += (text.empty() ? "" : ",") + role;
  append_or_none(text, out);
}

std::string_view address(const json::object& node, std::string_view type) {
  std::string_view found;
  for_objects(part(node, "status"), "addresses", [&](const json::object& each) {
    if (found.empty() && find_text(each, "type") == type) found = find_text(each, "address");
  });
  return found;
}

void node_internal(const json::object& node, Time, std::string& out) {
  append_or_none(address(node, "InternalIP"), out);
}

void node_external(const json::object& node, Time, std::string& out) {
  append_or_none(address(node, "ExternalIP"), out);
}

constexpr std::array<Named, 11> kPodCells = {{
    {"podReady", pod_ready},
    {"podStatus", pod_status},
    {"podRestarts", pod_restarts},
    {"podIp", pod_ip},
    {"podNode", pod_node},
    {"podNominatedNode", pod_nominated},
    {"podGates", pod_gates},
    {"nodeStatus", node_status},
    {"nodeRoles", node_roles},
    {"nodeInternalIp", node_internal},
    {"nodeExternalIp", node_external},
}};

}  // namespace

ComputedCell of_pods(std::string_view name) {
  for (const Named& each : kPodCells) {
    if (each.name == name) return each.cell;
  }
  return nullptr;
}

}  // namespace sluice::host::cells
