#include "host/apiserver/route.hpp"

#include <algorithm>
#include <array>

#include "host/apiserver/parameters.hpp"
#include "host/apiserver/url.hpp"
#include "host/objects/kinds.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kVisibility = "visibility.kueue.x-k8s.io";
constexpr std::string_view kUsageGroup = "metrics.k8s.io";
constexpr std::string_view kCustomKinds = "apiextensions.k8s.io";

bool is_read(std::string_view method) { return method == "GET" || method == "HEAD"; }

bool is_review_group(std::string_view group) {
  return group == "authorization.k8s.io" || group == "authentication.k8s.io";
}

std::string_view verb_of(const Route& route, const Request& request) {
  if (is_read(request.method)) {
    if (!route.collection()) return "get";
    return flag(request, "watch") ? "watch" : "list";
  }
  if (request.method == "POST") return route.collection() ? "create" : "";
  if (request.method == "PUT") return route.collection() ? "" : "update";
  if (request.method == "PATCH") return route.collection() ? "" : "patch";
  if (request.method == "DELETE") return route.collection() ? "deletecollection" : "delete";
  return "";
}

std::string_view subresource_verb(const Route& route, const Request& request) {
  if (is_read(request.method)) return "get";
  if (route.subresource == "log") return "";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  return "";
}

bool has_subresource(const api::KindInfo& kind, std::string_view subresource) {
  if (subresource == "status") return kind.status_subresource;
  if (subresource == "scale") return !kind.scale_field.empty();
  return subresource == "log" && kind.group.empty() && kind.plural == "pods";
}

/// /clusterqueues/Q/pendingworkloads and /namespaces/NS/localqueues/Q/pendingworkloads
bool find_pending(Route& route, const std::vector<std::string_view>& rest) {
  if (rest.size() < 3 || rest.back() != "pendingworkloads") return false;
  const bool cluster = rest.size() == 3 && rest[0] == "clusterqueues";
  const bool local = rest.size() == 5 && rest[0] == "namespaces" && rest[2] == "localqueues";
  if (!cluster && !local) return false;
  route.type = Route::Type::kPending;
  route.resource = std::string(rest[rest.size() - 3]);
  route.subresource = "pendingworkloads";
  if (local) route.ns = std::string(rest[1]);
  route.name = std::string(rest[rest.size() - 2]);
  return true;
}

/// /namespaces/NS/workloads/NAME/explain
bool find_explain(Route& route, const std::vector<std::string_view>& rest) {
  if (rest.size() != 5 || rest[0] != "namespaces" || rest[2] != "workloads" || rest[4] != "explain")
    return false;
  route.type = Route::Type::kExplain;
  route.resource = "workloads";
  route.subresource = "explain";
  route.ns = std::string(rest[1]);
  route.name = std::string(rest[3]);
  return true;
}

/// /nodes, /nodes/NAME, /pods, /namespaces/NS/pods and /namespaces/NS/pods/NAME
bool find_usage(Route& route, std::vector<std::string_view> rest) {
  const bool below = rest.size() > 2 && rest[0] == "namespaces";
  if (below) {
    route.ns = std::string(rest[1]);
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  const bool pods = rest[0] == "pods";
  if (rest.size() > 2 || (!pods && rest[0] != "nodes") || (below && !pods)) return false;
  if (pods && !below && rest.size() == 2) return false;
  route.type = Route::Type::kUsage;
  route.resource = std::string(rest[0]);
  if (rest.size() == 2) route.name = std::string(rest[1]);
  return true;
}

/// /runs, /namespaces/NS/runs and /quotas
bool find_history(Route& route, const std::vector<std::string_view>& rest) {
  const bool below = rest.size() == 3 && rest[0] == "namespaces";
  const bool quotas = rest.size() == 1 && rest[0] == "quotas";
  const bool runs = (rest.size() == 1 || below) && rest.back() == "runs";
  if ((!quotas && !runs) || route.version != "v1alpha1") return false;
  route.type = Route::Type::kHistory;
  route.resource = quotas ? "quotas" : "runs";
  if (below) route.ns = std::string(rest[1]);
  return true;
}

/// /whatifs: users may ask about what they may write, which is checked when the question is read.
bool find_what_if(Route& route, const std::vector<std::string_view>& rest) {
  if (rest.size() != 1 || rest[0] != "whatifs" || route.version != "v1alpha1") return false;
  route.type = Route::Type::kWhatIf;
  route.resource = "whatifs";
  return true;
}

/// Reviews are created, cluster-wide or (localsubjectaccessreviews) in a namespace.
bool find_review(Route& route, const std::vector<std::string_view>& rest) {
  if (rest.size() != 1 && !(rest.size() == 3 && rest[0] == "namespaces")) return false;
  route.type = Route::Type::kReview;
  route.resource = std::string(rest.back());
  if (rest.size() == 3) route.ns = std::string(rest[1]);
  return true;
}

}  // namespace

RouteTable::RouteTable(const api::Scheme& scheme) {
  for (const auto* kind : scheme.kinds()) {
    if (kind->internal) continue;
    for (const auto& version : kind->versions) {
      const std::string place = kind->group + "/" + version.name;
      entries_[place + "/" + kind->plural] = {kind, &version};
      groups_[place] = true;
    }
  }
}

Route RouteTable::find(const Request& request) const {
  Route route;
  auto parts = path_segments(request.path);
  const bool read = is_read(request.method);
  if (parts.empty()) {
    route.type = Route::Type::kDocument;
    route.verb = read ? "get" : "";
    return route;
  }
  constexpr std::array<std::string_view, 3> kHealth = {"healthz", "livez", "readyz"};
  const bool core = parts[0] == "api" && parts.size() > 2;
  const bool group = parts[0] == "apis" && parts.size() > 3 && parts[1] != kCustomKinds;
  if (std::find(kHealth.begin(), kHealth.end(), parts[0]) != kHealth.end()) {
    route.type = Route::Type::kHealth;
  } else if (parts[0] == "version" && parts.size() == 1) {
    route.type = Route::Type::kVersion;
  } else if (!core && !group) {
    route.type = Route::Type::kDocument;
  }
  route.verb = read ? "get" : "";
  if (route.type != Route::Type::kUnknown) return route;
  route.group = core ? "" : std::string(parts[1]);
  route.version = std::string(parts[core ? 1 : 2]);
  find_resource(route, {parts.begin() + (core ? 2 : 3), parts.end()}, request);
  return route;
}

void RouteTable::find_resource(Route& route, std::vector<std::string_view> rest,
                               const Request& request) const {
  if (route.group == kVisibility && find_pending(route, rest)) return;
  if (route.group == kOwnGroup && find_explain(route, rest)) return;
  if (route.group == kUsageGroup && route.version == "v1beta1" && find_usage(route, rest)) {
    const bool reads = is_read(request.method) && !flag(request, "watch");
    route.verb = !reads ? "" : route.name.empty() ? "list" : "get";
    return;
  }
  if (route.group == kOwnGroup && find_history(route, rest)) {
    route.verb = is_read(request.method) && !flag(request, "watch") ? "list" : "";
    return;
  }
  const bool question = (route.group == kOwnGroup && find_what_if(route, rest)) ||
                        (is_review_group(route.group) && find_review(route, rest));
  if (question) {
    route.verb = request.method == "POST" ? "create" : "";
    return;
  }
  const bool below =
      rest.size() > 2 && rest[0] == "namespaces" && rest[2] != "status" && rest[2] != "finalize";
  if (below) {
    route.ns = std::string(rest[1]);
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  route.resource = std::string(rest[0]);
  if (rest.size() > 1) route.name = std::string(rest[1]);
  if (rest.size() > 2) route.subresource = std::string(rest[2]);
  const auto found = entries_.find(route.group + "/" + route.version + "/" + route.resource);
  if (found == entries_.end() || rest.size() > 3) return;
  const api::KindInfo& kind = *found->second.kind;
  if (kind.namespaced ? !below && !route.name.empty() : below) return;
  if (!route.subresource.empty() && !has_subresource(kind, route.subresource)) return;
  route.type = Route::Type::kResource;
  route.kind = &kind;
  route.kind_version = found->second.version;
  route.verb =
      route.subresource.empty() ? verb_of(route, request) : subresource_verb(route, request);
  // Objects are created in a namespace, not in all of them.
  if (route.verb == "create" && kind.namespaced && !below) route.verb = "";
}

AccessRequest access_of(const Route& route, const Request& request) {
  AccessRequest out;
  out.verb = route.verb;
  if (route.type == Route::Type::kDocument || route.type == Route::Type::kHealth ||
      route.type == Route::Type::kVersion) {
    out.path = request.path;
    return out;
  }
  out.group = route.group;
  out.resource = route.resource;
  out.subresource = route.subresource;
  out.ns = route.ns;
  out.name = route.name;
  // The right to read a workload includes the question why it waits.
  if (route.type == Route::Type::kExplain) {
    out.group = kQueueGroup;
    out.subresource = {};
  }
  // So does that to read ClusterQueues, or Cohorts, the question what their quotas were.
  if (route.type == Route::Type::kHistory && route.resource == "quotas") {
    out.group = kQueueGroup;
    const std::string* cohort = request.parameter("cohort");
    const bool of_cohorts = cohort != nullptr && !cohort->empty();
    out.resource = of_cohorts ? "cohorts" : "clusterqueues";
    const std::string* one = of_cohorts ? cohort : request.parameter("clusterQueue");
    if (one != nullptr && !one->empty() && *one != "*") {
      out.verb = route.verb.empty() ? "" : "get";
      out.name = *one;
    }
  }
  // A Namespace is an object of itself: a Role in it can allow to read it.
  if (route.group.empty() && route.resource == "namespaces") out.ns = route.name;
  return out;
}

}  // namespace sluice::host
