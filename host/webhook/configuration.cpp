#include "host/webhook/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <map>
#include <utility>

#include "api/json/json.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/webhook/keeper.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kTimeoutSeconds = 10;

json::object client_config(const WebhookPlace& place, const std::string& path) {
  if (!place.url.empty()) return {{"url", place.url + path}};
  return {
      {"service",
       json::object{
           {"namespace", place.ns}, {"name", place.name}, {"path", path}, {"port", kWebhookPort}}}};
}

/// Of the versions in which the kinds are kept here: an API server converts others before it asks.
json::array rules_for(const std::vector<const api::KindInfo*>& kinds) {
  std::map<std::pair<std::string, std::string>, json::array> resources;
  for (const api::KindInfo* kind : kinds)
    resources[{kind->group, kind->hub().name}].emplace_back(kind->plural);
  json::array out;
  for (auto& [place, plurals] : resources)
    out.push_back(json::object{{"apiGroups", json::array{json::string(place.first)}},
                               {"apiVersions", json::array{json::string(place.second)}},
                               {"operations", json::array{"CREATE", "UPDATE"}},
                               {"resources", std::move(plurals)},
                               {"scope", "*"}});
  return out;
}

class Webhooks {
 public:
  Webhooks(const WebhookPlan& plan, std::string path) : plan_(plan), path_(std::move(path)) {}

  void add(const char* name, json::array rules, json::object selectors) {
    if (rules.empty()) return;
    json::object out{{"name", name},
                     {"clientConfig", client_config(plan_.place, path_)},
                     {"rules", std::move(rules)},
                     {"failurePolicy", "Fail"},
                     {"matchPolicy", "Equivalent"},
                     {"sideEffects", "None"},
                     {"timeoutSeconds", kTimeoutSeconds},
                     {"admissionReviewVersions", json::array{"v1"}},
                     {"matchConditions", conditions()}};
    for (auto& each : selectors) out[each.key()] = std::move(each.value());
    list_.push_back(std::move(out));
  }

  json::object configuration(const char* kind) {
    return {{"apiVersion", "admissionregistration.k8s.io/v1"},
            {"kind", kind},
            {"metadata", json::object{{"name", plan_.controller},
                                      {"annotations", trust_annotations(plan_.place)}}},
            {"webhooks", std::move(list_)}};
  }

 private:
  /// What the controller writes was validated by it.
  json::array conditions() const {
    return {json::object{
        {"name", "not-the-controller"},
        {"expression", fmt::format("request.userInfo.username != 'system:serviceaccount:{}:{}'",
                                   plan_.place.ns, plan_.controller)}}};
  }

  const WebhookPlan& plan_;
  const std::string path_;
  json::array list_;
};

/// Jobs and pods of the cluster itself, and those by which the webhook runs, do not wait for it.
json::object not_of_the_system(const WebhookPlan& plan) {
  json::array values{"kube-system"};
  if (plan.place.ns != "kube-system") values.emplace_back(plan.place.ns);
  return {{"matchExpressions", json::array{json::object{{"key", "kubernetes.io/metadata.name"},
                                                        {"operator", "NotIn"},
                                                        {"values", std::move(values)}}}}};
}

json::object configuration_of(const WebhookPlan& plan, bool mutating) {
  Webhooks out(plan, mutating ? "/mutate" : "/validate");
  out.add("objects.sluice.dev", rules_for(plan.own), {});
  out.add("jobs.sluice.dev", rules_for(plan.jobs),
          {{"namespaceSelector", not_of_the_system(plan)}});
  if (plan.pods) {
    json::array rules{json::object{{"apiGroups", json::array{""}},
                                   {"apiVersions", json::array{"v1"}},
                                   {"operations", json::array{mutating ? "CREATE" : "UPDATE"}},
                                   {"resources", json::array{"pods"}},
                                   {"scope", "Namespaced"}}};
    json::object ours{
        {"matchExpressions",
         json::array{json::object{{"key", api::json_view(kPodSetLabel)}, {"operator", "Exists"}}}}};
    out.add("pods.sluice.dev", std::move(rules),
            {{"namespaceSelector", not_of_the_system(plan)}, {"objectSelector", std::move(ours)}});
  }
  return out.configuration(mutating ? "MutatingWebhookConfiguration"
                                    : "ValidatingWebhookConfiguration");
}

}  // namespace

bool needs_conversion(const api::Scheme& scheme, const api::KindInfo& kind) {
  return std::any_of(kind.versions.begin(), kind.versions.end(), [&](const auto& version) {
    return version.name != kind.hub().name && !scheme.same_form(kind, version.name);
  });
}

std::vector<std::string> converted_definitions(const api::Scheme& scheme) {
  std::vector<std::string> out;
  for (const api::KindInfo* kind : scheme.kinds())
    if (kind->group == "kueue.x-k8s.io" && !kind->internal && needs_conversion(scheme, *kind))
      out.push_back(kind->plural + "." + kind->group);
  return out;
}

std::vector<json::object> webhook_configurations(const WebhookPlan& plan) {
  return {configuration_of(plan, true), configuration_of(plan, false)};
}

json::object webhook_service(const WebhookPlace& place, const std::string& app) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", json::object{{"name", place.name}, {"namespace", place.ns}}},
          {"spec", json::object{{"selector", json::object{{"app.kubernetes.io/name", app}}},
                                {"ports", json::array{json::object{{"name", "webhook"},
                                                                   {"port", kWebhookPort},
                                                                   {"targetPort", "webhook"}}}}}}};
}

json::object webhook_conversion(const WebhookPlace& place) {
  return {{"strategy", "Webhook"},
          {"webhook", json::object{{"clientConfig", client_config(place, "/convert")},
                                   {"conversionReviewVersions", json::array{"v1"}}}}};
}

json::object trust_annotations(const WebhookPlace& place) {
  return {{kTrustMark, fmt::format("{}/{}", place.ns, place.name)}};
}

}  // namespace sluice::host
