#include "host/cluster/roles.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/bootstrap.hpp"
#include "host/decide/followed_kinds.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kUserRoles = "kueue-";
constexpr const char* kBootstrapping = "kubernetes.io/bootstrapping";

json::array texts(std::initializer_list<std::string_view> list) {
  json::array out;
  for (const auto& each : list) out.emplace_back(api::json_view(each));
  return out;
}

json::object rule(std::string_view group, json::array resources, json::array verbs) {
  return {{"apiGroups", json::array{json::string(group)}},
          {"resources", std::move(resources)},
          {"verbs", std::move(verbs)}};
}

/// Are all groups that the role names among `served`?
bool is_about(const json::object& role, const std::set<std::string, std::less<>>& served) {
  bool all = true;
  for_each_object(role, "rules", [&](const json::object& each) {
    const json::array* groups = api::find_array(each, "apiGroups");
    for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i)
      all = all && served.contains(api::view((*groups)[i].get_string()));
  });
  return all;
}

/// As far as they concern the kind; whether one of them deletes. A change is sent as a patch.
bool add_rights(const std::vector<ObjectRight>& rights, const api::KindInfo& kind,
                std::string_view part, std::set<std::string>& verbs) {
  const std::string wanted = right_kind(kind.hub_api_version(), kind.kind, part);
  bool deletes = false;
  for (const ObjectRight& right : rights) {
    if (right.kind != wanted) continue;
    for (const std::string& verb : right.verbs) {
      deletes |= verb == "delete";
      if (verb == "create" || verb == "delete") verbs.insert(verb);
      if (verb == "update" || verb == "patch") verbs.insert("patch");
    }
  }
  return deletes;
}

json::object own_role(const api::KindInfo& kind, bool editor) {
  const json::array verbs =
      editor ? texts({"create", "delete", "get", "list", "patch", "update", "watch"})
             : texts({"get", "list", "watch"});
  json::array rules{rule(kind.group, texts({kind.plural}), verbs)};
  if (kind.status_subresource)
    rules.push_back(rule(kind.group, texts({kind.plural + "/status"}), texts({"get"})));
  const std::string whose = kind.singular + (editor ? "-editor" : "-viewer");
  json::object labels{{"rbac.kueue.x-k8s.io/role", whose}};
  if (editor) labels["rbac.kueue.x-k8s.io/batch-admin"] = "true";
  return cluster_role(std::string(kUserRoles) + whose + "-role", std::move(labels),
                      std::move(rules));
}

}  // namespace

json::object cluster_role(const std::string& name, json::object labels, json::array rules) {
  json::object metadata{{"name", name}};
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "ClusterRole"},
          {"metadata", std::move(metadata)},
          {"rules", std::move(rules)}};
}

std::vector<json::object> user_roles(const api::Scheme& scheme,
                                     const std::vector<const api::KindInfo*>& defined,
                                     const std::vector<std::string>& also) {
  std::set<std::string, std::less<>> served(also.begin(), also.end());
  for (const api::KindInfo* kind : scheme.kinds()) served.insert(kind->group);
  std::vector<json::object> out;
  std::set<std::string, std::less<>> names;
  for (const json::object& role : bootstrap_objects()) {
    const json::object& metadata = part(role, "metadata");
    const std::string name(api::find_text(metadata, "name"));
    if (api::find_text(role, "kind") != "ClusterRole" || !name.starts_with(kUserRoles) ||
        !is_about(role, served))
      continue;
    json::object labels = part(metadata, "labels");
    labels.erase(kBootstrapping);
    json::object made = cluster_role(name, std::move(labels), *api::find_array(role, "rules"));
    if (const json::object* sum = api::find_object(role, "aggregationRule")) {
      made.erase("rules");  // which the cluster fills in
      made["aggregationRule"] = *sum;
    }
    names.insert(name);
    out.push_back(std::move(made));
  }
  for (const api::KindInfo* kind : defined) {
    if (names.contains(std::string(kUserRoles) + kind->singular + "-editor-role")) continue;
    out.push_back(own_role(*kind, true));
    out.push_back(own_role(*kind, false));
  }
  return out;
}

json::array rules_to_follow(const std::vector<FollowedKind>& kinds) {
  std::map<std::string, std::set<std::string>> by_group;
  for (const FollowedKind& each : kinds) by_group[each.kind->group].insert(each.kind->plural);
  json::array out;
  for (const auto& [group, plurals] : by_group) {
    json::array resources;
    for (const std::string& plural : plurals) resources.emplace_back(plural);
    out.push_back(rule(group, std::move(resources), texts({"list", "watch"})));
  }
  return out;
}

std::vector<ObjectRight> rights_to_retain(const RetentionConfig& config,
                                          const api::Scheme& scheme) {
  std::vector<ObjectRight> out;
  if (!config.after_deactivated) return out;
  for (const api::KindInfo* kind : scheme.kinds())
    if (kind->job) out.push_back({{"delete"}, right_kind(kind->hub_api_version(), kind->kind, {})});
  return out;
}

json::array rules_to_decide(const std::vector<FollowedKind>& kinds,
                            const std::vector<ObjectRight>& rights) {
  json::array out;
  const auto allow = [&out](const api::KindInfo& kind, const char* part,
                            const std::set<std::string>& verbs) {
    if (!verbs.empty())
      out.push_back(rule(kind.group, texts({kind.plural + part}), api::to_array(verbs)));
  };
  for (const FollowedKind& each : kinds) {
    const api::KindInfo& kind = *each.kind;
    const Writing writes = writing_of(kind);
    std::set<std::string> verbs{"get", "list", "watch"}, of_status;
    const bool changes = writes == Writing::kJob || writes == Writing::kGates ||
                         writes == Writing::kMarked || writes == Writing::kAll;
    if (changes) verbs.insert("patch");
    if (writes == Writing::kAll) verbs.insert({"create", "delete"});
    const bool tells = writes != Writing::kNothing && writes != Writing::kGates;
    if (tells && kind.status_subresource) of_status.insert("patch");
    const bool ends = add_rights(rights, kind, "", verbs);
    add_rights(rights, kind, "status", of_status);
    allow(kind, "", verbs);
    allow(kind, "/status", of_status);
    // A writer of objects that hold up the deletion of their owner needs this right on the owner.
    if (ends || writes == Writing::kAll || writes == Writing::kJob)
      allow(kind, "/finalizers", {"update"});
  }
  out.push_back(rule("", texts({"events"}), texts({"create"})));
  return out;
}

json::array rules_to_lead() {
  return {rule("coordination.k8s.io", texts({"leases"}), texts({"create", "get", "update"}))};
}

json::array rules_to_be_trusted(const std::string& configuration,
                                const std::vector<std::string>& definitions,
                                const std::vector<std::string>& api_services) {
  json::object configurations =
      rule("admissionregistration.k8s.io",
           texts({"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}),
           texts({"get", "patch"}));
  configurations["resourceNames"] = json::array{json::string(configuration)};
  json::object services =
      rule("apiregistration.k8s.io", texts({"apiservices"}), texts({"get", "patch"}));
  services["resourceNames"] = api::to_array(api_services);
  json::array out{std::move(configurations), std::move(services)};
  if (definitions.empty()) return out;
  json::object converted =
      rule("apiextensions.k8s.io", texts({"customresourcedefinitions"}), texts({"get", "patch"}));
  converted["resourceNames"] = api::to_array(definitions);
  out.push_back(std::move(converted));
  return out;
}

json::array rules_to_keep_keys(const std::string& secret) {
  json::object own = rule("", texts({"secrets"}), texts({"get", "update"}));
  own["resourceNames"] = json::array{json::string(secret)};
  // What does not exist yet has no name that a rule could give.
  return {rule("", texts({"secrets"}), texts({"create"})), std::move(own)};
}

}  // namespace sluice::host
