#include "host/aggregation/configuration.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/aggregation/aggregated_api.hpp"
#include "host/webhook/configuration.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kPort = 443;
// As Kueue says: behind everything that is built in.
constexpr int kGroupPriority = 100;

json::object api_service(const std::string& version, int priority, const WebhookPlace& place) {
  return {{"apiVersion", "apiregistration.k8s.io/v1"},
          {"kind", "APIService"},
          {"metadata", json::object{{"name", version + "." + kVisibilityGroup},
                                    {"annotations", trust_annotations(place)}}},
          {"spec", json::object{{"group", kVisibilityGroup},
                                {"version", version},
                                {"groupPriorityMinimum", kGroupPriority},
                                {"versionPriority", priority},
                                {"service", json::object{{"namespace", place.ns},
                                                         {"name", kVisibilityService},
                                                         {"port", kPort}}}}}};
}

}  // namespace

std::vector<std::string> visibility_api_services() {
  std::vector<std::string> out;
  for (const std::string& version : aggregated_versions())
    out.push_back(version + "." + kVisibilityGroup);
  return out;
}

std::vector<json::object> visibility_objects(const std::string& ns, const std::string& secret) {
  const WebhookPlace place{.ns = ns, .name = secret};
  std::vector<json::object> out;
  out.push_back(
      {{"apiVersion", "v1"},
       {"kind", "Service"},
       {"metadata", json::object{{"name", kVisibilityService}, {"namespace", ns}}},
       {"spec", json::object{{"ports", json::array{json::object{{"name", kVisibilityPortName},
                                                                {"port", kPort},
                                                                {"targetPort", kWebhookPort}}}}}}});
  int priority = kGroupPriority;
  for (const std::string& version : aggregated_versions())
    out.push_back(api_service(version, priority--, place));
  return out;
}

json::object visibility_binding(const std::string& controller, const std::string& ns) {
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "RoleBinding"},
          {"metadata",
           json::object{{"name", controller + "-visibility"}, {"namespace", "kube-system"}}},
          {"roleRef", json::object{{"apiGroup", "rbac.authorization.k8s.io"},
                                   {"kind", "Role"},
                                   {"name", "extension-apiserver-authentication-reader"}}},
          {"subjects", json::array{json::object{{"kind", "ServiceAccount"},
                                                {"name", json::string(controller)},
                                                {"namespace", json::string(ns)}}}}};
}

json::array rules_to_ask_access() {
  return {json::object{{"apiGroups", json::array{"authorization.k8s.io"}},
                       {"resources", json::array{"subjectaccessreviews"}},
                       {"verbs", json::array{"create"}}}};
}

json::array rules_to_be_found() {
  const json::array groups{"discovery.k8s.io"}, resources{"endpointslices"};
  // What does not exist yet has no name that a rule could give.
  return {json::object{
              {"apiGroups", groups}, {"resources", resources}, {"verbs", json::array{"create"}}},
          json::object{{"apiGroups", groups},
                       {"resources", resources},
                       {"resourceNames", json::array{kVisibilityService}},
                       {"verbs", json::array{"get", "update"}}}};
}

}  // namespace sluice::host
