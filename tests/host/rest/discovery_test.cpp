// Discovery documents: both forms say the same, and say it as clients need it.
#include "host/rest/discovery.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "api/json/json.hpp"
#include "host/rest/accept.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

constexpr const char* kKubectl =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

const Discovery& discovery() {
  static const api::Scheme scheme;
  static const Discovery documents(scheme);
  return documents;
}

json::object at(const char* path, const char* accept = "application/json") {
  const ApiDocument* document = discovery().find(path, accept);
  EXPECT_NE(document, nullptr) << path;
  return document != nullptr ? json::parse(*document->body).as_object() : json::object();
}

const json::object* named(const json::value& list, std::string_view key, std::string_view name) {
  for (const auto& each : list.as_array()) {
    if (api::find_text(each.as_object(), key) == name) return &each.as_object();
  }
  return nullptr;
}

TEST(Discovery, ChoosesTheFormByTheAcceptHeader) {
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const std::string beta =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  const std::pair<std::string, std::string> cases[] = {
      {kKubectl, v2},
      {beta + ",application/json", beta},
      {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer," + v2,
       v2},
      {"application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList, application/json",
       "application/json"},
      {"application/json", "application/json"},
      {"", "application/json"},
      {"*/*", "application/json"},
      {"application/vnd.kubernetes.protobuf,*/*;q=0.8", "application/json"},
  };
  for (const auto& [accept, expected] : cases) {
    for (const char* path : {"/api", "/apis", "/apis/"}) {
      const ApiDocument* found = discovery().find(path, accept);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->content_type, expected) << accept;
    }
  }
  EXPECT_EQ(discovery().find("/apis/batch", kKubectl)->content_type, "application/json");
  EXPECT_EQ(discovery().find("/apis/batch/v2", kKubectl), nullptr);
  EXPECT_EQ(discovery().find("/", kKubectl), nullptr);
}

TEST(Discovery, Groups) {
  const auto groups = at("/apis");
  EXPECT_EQ(groups.at("kind").as_string(), "APIGroupList");
  std::vector<std::string> names;
  for (const auto& each : groups.at("groups").as_array()) {
    names.emplace_back(each.at("name").as_string());
  }
  EXPECT_THAT(names, ElementsAre("authentication.k8s.io", "authorization.k8s.io", "batch",
                                 "coordination.k8s.io", "kueue.x-k8s.io", "metrics.k8s.io",
                                 "ray.io", "rbac.authorization.k8s.io", "scheduling.k8s.io",
                                 "sluice.dev", "visibility.kueue.x-k8s.io"));
  const auto* kueue = named(groups.at("groups"), "name", "kueue.x-k8s.io");
  ASSERT_NE(kueue, nullptr);
  EXPECT_EQ(
      json::serialize(*kueue),
      R"({"name":"kueue.x-k8s.io","versions":[{"groupVersion":"kueue.x-k8s.io/v1beta2",)"
      R"("version":"v1beta2"},{"groupVersion":"kueue.x-k8s.io/v1beta1","version":"v1beta1"}],)"
      R"("preferredVersion":{"groupVersion":"kueue.x-k8s.io/v1beta2","version":"v1beta2"}})");
  EXPECT_EQ(at("/api").at("versions"), json::array({"v1"}));
  EXPECT_EQ(at("/apis/batch").at("kind").as_string(), "APIGroup");
}

TEST(Discovery, Resources) {
  struct Case {
    const char *path, *name, *expected;
  };
  const Case cases[] = {
      {"/apis/kueue.x-k8s.io/v1beta1", "localqueues",
       R"({"name":"localqueues","singularName":"localqueue","namespaced":true,"kind":"LocalQueue",)"
       R"("verbs":["create","delete","deletecollection","get","list","patch","update","watch"],)"
       R"("shortNames":["queue","queues","lq"]})"},
      {"/apis/kueue.x-k8s.io/v1beta2", "workloads/status",
       R"({"name":"workloads/status","singularName":"","namespaced":true,"kind":"Workload",)"
       R"("verbs":["get","patch","update"]})"},
      {"/api/v1", "pods",
       R"({"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod",)"
       R"("verbs":["create","delete","deletecollection","get","list","patch","update","watch"],)"
       R"("shortNames":["po"],"categories":["all"]})"},
      {"/api/v1", "pods/log",
       R"({"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]})"},
      {"/apis/batch/v1", "jobs/scale",
       R"({"name":"jobs/scale","singularName":"","namespaced":true,"kind":"Scale",)"
       R"("verbs":["get","patch","update"],"group":"autoscaling","version":"v1"})"},
      {"/apis/authorization.k8s.io/v1", "selfsubjectaccessreviews",
       R"({"name":"selfsubjectaccessreviews","singularName":"selfsubjectaccessreview",)"
       R"("namespaced":false,"kind":"SelfSubjectAccessReview","verbs":["create"]})"},
      {"/apis/visibility.kueue.x-k8s.io/v1beta2", "localqueues/pendingworkloads",
       R"({"name":"localqueues/pendingworkloads","singularName":"","namespaced":true,)"
       R"("kind":"PendingWorkloadsSummary","verbs":["get"]})"},
  };
  for (const Case& each : cases) {
    const auto list = at(each.path);
    EXPECT_EQ(list.at("kind").as_string(), "APIResourceList");
    const auto* found = named(list.at("resources"), "name", each.name);
    ASSERT_NE(found, nullptr) << each.name;
    EXPECT_EQ(json::serialize(*found), each.expected);
  }
  const auto core = at("/api/v1");
  EXPECT_EQ(named(core.at("resources"), "name", "namespaces/scale"), nullptr);
}

/// `group/version resource[/subresource]` → scope, kind, verbs, as both forms tell it.
using Told = std::map<std::string, std::string>;

std::string joined(const json::value& verbs) { return json::serialize(verbs); }

void tell_aggregated(const char* path, Told& told) {
  const auto document = at(path, kKubectl);
  EXPECT_EQ(document.at("apiVersion").as_string(), "apidiscovery.k8s.io/v2");
  for (const auto& item : document.at("items").as_array()) {
    const std::string group(api::find_text(item.at("metadata").as_object(), "name"));
    for (const auto& version : item.at("versions").as_array()) {
      EXPECT_EQ(version.at("freshness").as_string(), "Current");
      const std::string prefix =
          (group.empty() ? "" : group + "/") + std::string(version.at("version").as_string()) + " ";
      for (const auto& resource : version.at("resources").as_array()) {
        const std::string name(resource.at("resource").as_string());
        const std::string scope = resource.at("scope") == "Namespaced" ? "true " : "false ";
        if (const auto* kind = resource.as_object().if_contains("responseKind")) {
          told[prefix + name] =
              scope + std::string(kind->at("kind").as_string()) + joined(resource.at("verbs"));
        }
        const auto* subs = resource.as_object().if_contains("subresources");
        if (subs == nullptr) continue;
        for (const auto& sub : subs->as_array()) {
          told[prefix + name + "/" + std::string(sub.at("subresource").as_string())] =
              scope + std::string(sub.at("responseKind").at("kind").as_string()) +
              joined(sub.at("verbs"));
        }
      }
    }
  }
}

void tell_legacy(const std::string& path, Told& told) {
  const auto document = at(path.c_str());
  const std::string prefix = std::string(document.at("groupVersion").as_string()) + " ";
  for (const auto& resource : document.at("resources").as_array()) {
    told[prefix + std::string(resource.at("name").as_string())] =
        (resource.at("namespaced").as_bool() ? "true " : "false ") +
        std::string(resource.at("kind").as_string()) + joined(resource.at("verbs"));
  }
}

TEST(Discovery, ThereAreNoDefinitionsOfCustomKinds) {
  const json::object list = at("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
  EXPECT_EQ(list.at("kind"), "CustomResourceDefinitionList");
  EXPECT_TRUE(list.at("items").as_array().empty());
  EXPECT_EQ(discovery().find("/apis/apiextensions.k8s.io/v1", "application/json"), nullptr);
}

TEST(Discovery, BothFormsSayTheSame) {
  Told aggregated, legacy;
  tell_aggregated("/api", aggregated);
  tell_aggregated("/apis", aggregated);
  tell_legacy("/api/v1", legacy);
  const auto groups = at("/apis");
  for (const auto& group : groups.at("groups").as_array()) {
    for (const auto& version : group.at("versions").as_array()) {
      tell_legacy("/apis/" + std::string(version.at("groupVersion").as_string()), legacy);
    }
  }
  EXPECT_EQ(aggregated, legacy);
  EXPECT_GT(legacy.size(), 40u);
}

TEST(Discovery, ContributedKindsAppear) {
  api::Scheme scheme;
  ASSERT_TRUE(scheme
                  .add(R"({"kind":"Budget","group":"example.com","plural":"budgets",
      "shortNames":["bg"],"scope":"Cluster","versions":[{"version":"v1","storage":true,
      "fields":[{"path":"spec","type":"object"}]}]})",
                       "budget")
                  .ok());
  const Discovery with(scheme);
  const ApiDocument* document = with.find("/apis/example.com/v1", "");
  ASSERT_NE(document, nullptr);
  EXPECT_NE(document->body->find("\"budgets\""), std::string::npos);
  EXPECT_NE(with.find("/apis", "")->etag, discovery().find("/apis", "")->etag);
}

TEST(Accept, ReadsRanges) {
  const auto ranges = parse_accept(" application/json;as=Table;v=v1 , text/* ,, */* ");
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].parameter("as"), "Table");
  EXPECT_EQ(ranges[0].parameter("g"), "");
  EXPECT_TRUE(ranges[1].covers("text/plain"));
  EXPECT_FALSE(ranges[1].covers("application/json"));
  EXPECT_TRUE(ranges[2].covers("application/json"));
  EXPECT_EQ(parse_accept("").size(), 1u);
  EXPECT_EQ(parse_accept(std::string(100'000, ',')).size(), 1u);
}

}  // namespace
}  // namespace sluice::host
