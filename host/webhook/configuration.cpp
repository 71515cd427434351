#include "host/webhook/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <map>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/kind_info.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/header.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/rest/selectors.hpp"
#include "host/webhook/keeper.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kTimeoutSeconds = 10;
/// Of what is stored anyway: whoever creates it waits no longer than this while nobody answers.
constexpr int kShortTimeoutSeconds = 2;

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

  /// `more`: members of the webhook beside those that all have; matchConditions are added to those.
  void add(const char* name, json::array rules, json::object more) {
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
    if (json::value* own = more.if_contains("matchConditions"))
      for (json::value& each : own->get_array())
        out["matchConditions"].get_array().push_back(std::move(each));
    more.erase("matchConditions");
    for (auto& each : more) out[each.key()] = std::move(each.value());
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

/// What goes, and what changes nothing but its finalizers, is not judged: a job that has ended is
/// counted, and a deleted one goes, whoever is away. Nothing runs by either.
json::array if_more_than_finalizers() {
  std::string differs;
  for (const char* field :
       {"spec", "metadata.labels", "metadata.annotations", "metadata.ownerReferences"})
    differs += fmt::format(
        "{0}has(object.{1}) != has(oldObject.{1}) || (has(object.{1}) && object.{1} != "
        "oldObject.{1})",
        differs.empty() ? "" : " || ", field);
  return {json::object{
      {"name", "more-than-finalizers"},
      {"expression",
       fmt::format("request.operation != 'UPDATE' || (!has(object.metadata.deletionTimestamp) && "
                   "({}))",
                   differs)}}};
}

/// Of objects that have an annotation or, with a `!`, have it not.
json::object if_annotated(std::string_view annotation) {
  const bool without = annotation.starts_with('!');
  return {{"name", without ? "not-annotated" : "annotated"},
          {"expression", fmt::format("{}(has(object.metadata.annotations) && '{}' in "
                                     "object.metadata.annotations)",
                                     without ? "!" : "", annotation.substr(without ? 1 : 0))}};
}

/// A kind that a plugin is asked about: never what the cluster itself and the webhook run by,
/// whatever the plugin says.
void add_asked(const WebhookPlan& plan, const AskedKind& kind, Webhooks& out) {
  json::object namespaces = not_of_the_system(plan);
  json::array& left_out = namespaces.at("matchExpressions").at(0).at("values").get_array();
  for (const std::string& ns : kind.except)
    if (std::find(left_out.begin(), left_out.end(), json::value(ns)) == left_out.end())
      left_out.emplace_back(ns);
  json::object more{{"namespaceSelector", std::move(namespaces)},
                    {"matchConditions", if_more_than_finalizers()}};
  if (!kind.annotation.empty())
    more["matchConditions"].get_array().push_back(if_annotated(kind.annotation));
  if (!kind.labels.empty())
    more["objectSelector"] = json::object{{"matchExpressions", kind.labels}};
  if (kind.if_answered) {
    more["failurePolicy"] = "Ignore";
    more["timeoutSeconds"] = kShortTimeoutSeconds;
  }
  json::array rules{json::object{{"apiGroups", json::array{json::string(kind.group)}},
                                 {"apiVersions", json::array{json::string(kind.version)}},
                                 {"operations", json::array{"CREATE", "UPDATE"}},
                                 {"resources", json::array{json::string(kind.plural)}},
                                 {"scope", "Namespaced"}}};
  out.add((kind.name + ".sluice.dev").c_str(), std::move(rules), std::move(more));
}

json::object configuration_of(const WebhookPlan& plan, bool mutating) {
  Webhooks out(plan, mutating ? "/mutate" : "/validate");
  out.add("objects.sluice.dev", rules_for(plan.own), {});
  out.add("jobs.sluice.dev", rules_for(plan.jobs),
          {{"namespaceSelector", not_of_the_system(plan)},
           {"matchConditions", if_more_than_finalizers()}});
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
            {{"namespaceSelector", not_of_the_system(plan)},
             {"objectSelector", std::move(ours)},
             {"matchConditions", if_more_than_finalizers()}});
  }
  for (const AskedKind& kind : plan.asked) add_asked(plan, kind, out);
  return out.configuration(mutating ? "MutatingWebhookConfiguration"
                                    : "ValidatingWebhookConfiguration");
}

}  // namespace

Result<std::vector<AskedKind>> asked_kinds(const std::vector<Validators::Judge>& judges,
                                           const api::Scheme& scheme,
                                           const std::vector<const api::KindInfo*>& known) {
  std::vector<AskedKind> out;
  std::map<std::string, int> numbers;
  for (const auto& [plugin, kind] : judges) {
    const auto is_it = [&group_kind_of = kind.group_kind](const api::KindInfo* each) {
      return group_kind(each->hub_api_version(), each->kind) == group_kind_of;
    };
    if (std::any_of(known.begin(), known.end(), is_it)) continue;
    const auto all = scheme.kinds();
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    if (found == all.end() && kind.plural.empty()) continue;    // no such kind here
    if (found != all.end() && !(*found)->namespaced) continue;  // its objects are in no namespace
    const std::string where = fmt::format("plugin {} validates {}", plugin, kind.group_kind);
    const auto labels = LabelQuery::parse(kind.labels);
    if (!labels) return Error{labels.error().text}.context(where);
    const auto expressions = labels->expressions();
    if (!expressions) return Error{"label: API servers know no > and <"}.context(where);
    AskedKind asked;
    const int number = ++numbers[plugin];
    asked.name = number == 1 ? plugin : fmt::format("{}-{}", plugin, number);
    asked.name += ".plugins";
    asked.group = kind.written_group.empty() ? api::group_of(kind.group_kind) : kind.written_group;
    asked.version = found != all.end() ? (*found)->hub().name : kind.version;
    asked.plural = found != all.end() ? (*found)->plural : kind.plural;
    asked.labels = *expressions;
    asked.annotation = kind.annotation;
    asked.except = kind.except;
    asked.if_answered = kind.if_answered;
    out.push_back(std::move(asked));
  }
  return out;
}

bool needs_conversion(const api::Scheme& scheme, const api::KindInfo& kind) {
  return std::any_of(kind.versions.begin(), kind.versions.end(), [&](const auto& version) {
    return version.name != kind.hub().name && !scheme.same_form(kind, version.name);
  });
}

std::vector<std::string> converted_definitions(const api::Scheme& scheme) {
  std::vector<std::string> out;
  for (const api::KindInfo* kind : scheme.kinds())
    if (kind->group == kQueueGroup && !kind->internal && needs_conversion(scheme, *kind))
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
  return {{kTrustMark, join_key(place.ns, place.name)}};
}

}  // namespace sluice::host
