#include "host/rest/resources.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "host/objects/kinds.hpp"

namespace sluice::host {

namespace {

const std::vector<std::string> kAllVerbs = {"create", "delete", "deletecollection", "get",
                                            "list",   "patch",  "update",           "watch"};
const std::vector<std::string> kChange = {"get", "patch", "update"};

/// Stable versions before betas before alphas, newer ones first: smaller is better.
std::tuple<int, int, int> rank(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto number = std::from_chars(version.data() + 1, end, major);
  int stage = 0;
  if (number.ptr != end) {
    const std::string_view rest(number.ptr, static_cast<std::size_t>(end - number.ptr));
    stage = rest.starts_with("beta") ? 1 : 2;
    const auto digits = rest.find_first_of("0123456789");
    if (digits != std::string_view::npos) std::from_chars(rest.data() + digits, end, minor);
  }
  return {stage, -major, -minor};
}

void add_stored(const api::KindInfo& info, std::vector<ApiResource>& out) {
  for (const auto& version : info.versions) {
    ApiResource resource;
    resource.group = info.group;
    resource.version = version.name;
    resource.plural = info.plural;
    resource.singular = info.singular;
    resource.kind = info.kind;
    resource.namespaced = info.namespaced;
    resource.short_names = info.short_names;
    resource.categories = info.categories;
    resource.verbs = kAllVerbs;
    resource.info = &info;
    if (is_pod(info)) {
      resource.subresources.push_back({"log", "", "v1", "Pod", {"get"}});
    }
    if (!info.scale_field.empty()) {
      resource.subresources.push_back({"scale", "autoscaling", "v1", "Scale", kChange});
    }
    if (info.status_subresource) {
      resource.subresources.push_back({"status", info.group, version.name, info.kind, kChange});
    }
    out.push_back(std::move(resource));
  }
}

struct NamedResource {
  std::string_view group, version, plural, kind;
  bool namespaced;
};

/// Of what is not stored: it is computed when it is asked for.
ApiResource computed(const NamedResource& what, std::vector<std::string> verbs) {
  ApiResource resource;
  resource.group = what.group;
  resource.version = what.version;
  resource.plural = what.plural;
  resource.singular = what.plural.substr(0, what.plural.size() - 1);
  resource.kind = what.kind;
  resource.namespaced = what.namespaced;
  resource.verbs = std::move(verbs);
  return resource;
}

/// Only a part of each object is served.
ApiResource with_part(const NamedResource& what, const char* part, const char* kind) {
  ApiResource resource = computed(what, {});
  resource.subresources.push_back({part, resource.group, resource.version, kind, {"get"}});
  return resource;
}

ApiResource pending_of(std::string_view plural, std::string_view kind, bool namespaced,
                       std::string_view version) {
  return with_part({"visibility.kueue.x-k8s.io", version, plural, kind, namespaced},
                   "pendingworkloads", "PendingWorkloadsSummary");
}

}  // namespace

bool takes_strategic_merge(std::string_view group) {
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

std::vector<ApiResource> pending_resources(std::string_view version) {
  return {pending_of("clusterqueues", "ClusterQueue", false, version),
          pending_of("localqueues", "LocalQueue", true, version)};
}

ApiResource explained_resource() {
  return with_part({"sluice.dev", "v1alpha1", "workloads", "Workload", true}, "explain",
                   "Explanation");
}

std::vector<ApiResource> served_resources(const api::Scheme& scheme) {
  std::vector<ApiResource> out;
  for (const api::KindInfo* info : scheme.kinds())
    if (!info->internal) add_stored(*info, out);
  const auto add = [&out](const NamedResource& what, std::vector<std::string> verbs) {
    out.push_back(computed(what, std::move(verbs)));
  };
  const char* authorization = "authorization.k8s.io";
  add({authorization, "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", true},
      {"create"});
  add({authorization, "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false},
      {"create"});
  add({authorization, "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false},
      {"create"});
  add({authorization, "v1", "subjectaccessreviews", "SubjectAccessReview", false}, {"create"});
  const char* authentication = "authentication.k8s.io";
  add({authentication, "v1", "selfsubjectreviews", "SelfSubjectReview", false}, {"create"});
  add({authentication, "v1", "tokenreviews", "TokenReview", false}, {"create"});
  for (ApiResource& each : pending_resources("v1beta2")) out.push_back(std::move(each));
  add({"sluice.dev", "v1alpha1", "whatifs", "WhatIf", false}, {"create"});
  add({"sluice.dev", "v1alpha1", "runs", "Run", true}, {"list"});
  add({"metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", false}, {"get", "list"});
  add({"metrics.k8s.io", "v1beta1", "pods", "PodMetrics", true}, {"get", "list"});
  std::stable_sort(out.begin(), out.end(), [](const ApiResource& a, const ApiResource& b) {
    if (a.group != b.group) return a.group < b.group;
    if (a.version != b.version) return rank(a.version) < rank(b.version);
    return a.plural < b.plural;
  });
  return out;
}

}  // namespace sluice::host
