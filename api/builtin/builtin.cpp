#include "api/builtin/builtin.hpp"

#include <array>

#include "api/builtin/rules.hpp"
#include "api/schema/rules.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace builtin {

void add_immutable(const json::object& holder, std::string_view key, const std::string& field,
                   Outcome& outcome) {
  static const json::value kNull;
  const json::value* value = find(holder, key);
  add_invalid(outcome, field, value != nullptr ? *value : kNull, "field is immutable");
}

void add_required(Outcome& outcome, std::string field, const std::string& why) {
  add_problem(outcome, Problem::Kind::kRequired, std::move(field),
              why.empty() ? "Required value" : "Required value: " + why);
}

void add_forbidden(Outcome& outcome, std::string field, const std::string& why) {
  add_problem(outcome, Problem::Kind::kForbidden, std::move(field), "Forbidden: " + why);
}

}  // namespace builtin

namespace {

struct Entry {
  std::string_view group, kind;
  BuiltinRules rules;
};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

constexpr std::array<Entry, 10> kRules = {{
    {"batch", "Job", {builtin::fill_in_job, builtin::check_job}},
    {"", "Pod", {builtin::fill_in_pod, builtin::check_pod}},
    {"", "Secret", {builtin::fill_in_secret, builtin::check_secret}},
    {"", "ConfigMap", {nullptr, builtin::check_config_map}},
    {"", "Event", {nullptr, builtin::check_event}},
    {"", "Service", {builtin::fill_in_service, nullptr}},
    {kRbac, "Role", {nullptr, builtin::check_role}},
    {kRbac, "ClusterRole", {nullptr, builtin::check_cluster_role}},
    {kRbac, "RoleBinding", {builtin::fill_in_role_binding, builtin::check_role_binding}},
    {kRbac,
     "ClusterRoleBinding",
     {builtin::fill_in_role_binding, builtin::check_cluster_role_binding}},
}};

/// Guaranteed: all containers have equal requests and limits of cpu and memory; BestEffort: none
/// has any; else Burstable.
std::string_view quality_of_service(const json::object& pod) {
  bool any = false;
  bool guaranteed = true;
  const auto look = [&](std::size_t, const json::object& container) {
    const json::object& resources = builtin::part(container, "resources");
    const json::object& requests = builtin::part(resources, "requests");
    const json::object& limits = builtin::part(resources, "limits");
    for (const char* name : {"cpu", "memory"}) {
      const json::value* request = find(requests, name);
      const json::value* limit = find(limits, name);
      if (request != nullptr || limit != nullptr) any = true;
      if (limit == nullptr ||
          (request != nullptr && !(quantity_or_zero(*request) == quantity_or_zero(*limit)))) {
        guaranteed = false;
      }
    }
  };
  builtin::for_objects(builtin::part(pod, "spec"), "initContainers", look);
  builtin::for_objects(builtin::part(pod, "spec"), "containers", look);
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace

const BuiltinRules* builtin_rules(std::string_view group, std::string_view kind) {
  for (const Entry& each : kRules) {
    if (each.kind == kind && each.group == group) return &each.rules;
  }
  return nullptr;
}

json::object initial_status(std::string_view group, std::string_view kind,
                            const json::object& object) {
  json::object status;
  if (!group.empty()) return status;
  if (kind == "Namespace") status["phase"] = "Active";
  if (kind == "Pod") {
    status["phase"] = "Pending";
    status["qosClass"] = json_view(quality_of_service(object));
  }
  return status;
}

}  // namespace sluice::api
