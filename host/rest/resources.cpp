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

void add_review(std::string_view group, std::string_view plural, std::string_view kind,
                bool namespaced, std::vector<ApiResource>& out, std::string_view version = "v1") {
  ApiResource resource;
  resource.group = group;
  resource.version = version;
  resource.plural = plural;
  resource.singular = plural.substr(0, plural.size() - 1);
  resource.kind = kind;
  resource.namespaced = namespaced;
  resource.verbs = {"create"};
  out.push_back(std::move(resource));
}

struct ReadOnly {
  std::string_view group, version, plural, kind;
  bool namespaced;
};

/// What is computed when it is read.
void add_read(const ReadOnly& what, std::vector<std::string> verbs, std::vector<ApiResource>& out) {
  ApiResource resource;
  resource.group = what.group;
  resource.version = what.version;
  resource.plural = what.plural;
  resource.singular = what.plural.substr(0, what.plural.size() - 1);
  resource.kind = what.kind;
  resource.namespaced = what.namespaced;
  resource.verbs = std::move(verbs);
  out.push_back(std::move(resource));
}

ApiResource pending_of(std::string_view plural, std::string_view kind, bool namespaced,
                       std::string_view version) {
  ApiResource resource;
  resource.group = "visibility.kueue.x-k8s.io";
  resource.version = version;
  resource.plural = plural;
  resource.singular = plural.substr(0, plural.size() - 1);
  resource.kind = kind;
  resource.namespaced = namespaced;
  resource.subresources.push_back(
      {"pendingworkloads", resource.group, resource.version, "PendingWorkloadsSummary", {"get"}});
  return resource;
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
  ApiResource resource;
  resource.group = "sluice.dev";
  resource.version = "v1alpha1";
  resource.plural = "workloads";
  resource.singular = "workload";
  resource.kind = "Workload";
  resource.namespaced = true;
  resource.subresources.push_back(
      {"explain", resource.group, resource.version, "Explanation", {"get"}});
  return resource;
}

std::vector<ApiResource> served_resources(const api::Scheme& scheme) {
  std::vector<ApiResource> out;
  for (const api::KindInfo* info : scheme.kinds())
    if (!info->internal) add_stored(*info, out);
  const char* authorization = "authorization.k8s.io";
  add_review(authorization, "localsubjectaccessreviews", "LocalSubjectAccessReview", true, out);
  add_review(authorization, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false, out);
  add_review(authorization, "selfsubjectrulesreviews", "SelfSubjectRulesReview", false, out);
  add_review(authorization, "subjectaccessreviews", "SubjectAccessReview", false, out);
  const char* authentication = "authentication.k8s.io";
  add_review(authentication, "selfsubjectreviews", "SelfSubjectReview", false, out);
  add_review(authentication, "tokenreviews", "TokenReview", false, out);
  for (ApiResource& each : pending_resources("v1beta2")) out.push_back(std::move(each));
  add_review("sluice.dev", "whatifs", "WhatIf", false, out, "v1alpha1");
  add_read({"sluice.dev", "v1alpha1", "runs", "Run", true}, {"list"}, out);
  add_read({"metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", false}, {"get", "list"}, out);
  add_read({"metrics.k8s.io", "v1beta1", "pods", "PodMetrics", true}, {"get", "list"}, out);
  std::stable_sort(out.begin(), out.end(), [](const ApiResource& a, const ApiResource& b) {
    if (a.group != b.group) return a.group < b.group;
    if (a.version != b.version) return rank(a.version) < rank(b.version);
    return a.plural < b.plural;
  });
  return out;
}

}  // namespace sluice::host
