// Rules, bindings, aggregation; what the roles of the start give.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/access/bootstrap.hpp"
#include "tests/host/access/rbac_objects.hpp"

namespace sluice::host::test {
namespace {

TEST(PolicyRule, WhatARuleAllows) {
  struct Case {
    std::string rule, verb, resource, ns, name, group;
    bool allowed;
  };
  const std::string pods = R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]})";
  const std::string named =
      R"({"verbs":["get"],"apiGroups":["batch"],"resources":["jobs"],"resourceNames":["a"]})";
  const std::string status = R"({"verbs":["*"],"apiGroups":["*"],"resources":["*/status"]})";
  const std::string all = R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})";
  const std::string urls = R"({"verbs":["get"],"nonResourceURLs":["/api","/apis/*"]})";
  for (const Case& each : std::vector<Case>{
           {pods, "get", "pods", "n", "", "", true},
           {pods, "get", "pods", "n", "x", "", true},
           {pods, "delete", "pods", "n", "x", "", false},
           {pods, "get", "pods/log", "n", "x", "", false},
           {pods, "get", "pods", "n", "x", "batch", false},
           {named, "get", "jobs", "n", "a", "batch", true},
           {named, "get", "jobs", "n", "b", "batch", false},
           {named, "get", "jobs", "n", "", "batch", false},
           {status, "update", "jobs/status", "n", "a", "batch", true},
           {status, "update", "jobs", "n", "a", "batch", false},
           {all, "update", "jobs/status", "n", "a", "batch", true},
           {all, "get", "/healthz", "", "", "", false},
           {urls, "get", "/api", "", "", "", true},
           {urls, "get", "/apis/batch", "", "", "", true},
           {urls, "get", "/apis", "", "", "", false},
           {urls, "post", "/api", "", "", "", false},
           {urls, "get", "/metrics", "", "", "", false},
       }) {
    const PolicyRule rule = parse_rule(parsed(each.rule));
    EXPECT_EQ(rule.allows(request(each.verb, each.resource, each.ns, each.name, each.group)),
              each.allowed)
        << each.rule << " " << each.verb << " " << each.resource;
  }
}

/// The texts of what of `wanted` is not held.
std::vector<std::string> lacks(const std::vector<PolicyRule>& held, const PolicyRule& wanted,
                               std::size_t most) {
  std::vector<std::string> out;
  for (const PolicyRule& each : uncovered(held, wanted, most)) out.push_back(rule_text(each));
  return out;
}

TEST(PolicyRule, WhatAnotherLacksIsNamedOneByOne) {
  using Texts = std::vector<std::string>;
  const std::vector<PolicyRule> held = {{{"get"}, {}, {}, {}, {"/api", "/apis/*"}},
                                        {{"get"}, {"batch"}, {"jobs"}, {}, {}}};
  const PolicyRule urls = {{"get"}, {}, {}, {}, {"/api", "/apis/batch", "/apis", "/apisx"}};
  EXPECT_EQ(lacks(held, urls, 9), (Texts{R"({NonResourceURLs:["/apis"], Verbs:["get"]})",
                                         R"({NonResourceURLs:["/apisx"], Verbs:["get"]})"}));
  EXPECT_EQ(lacks(held, urls, 1), (Texts{R"({NonResourceURLs:["/apis"], Verbs:["get"]})"}));
  EXPECT_EQ(lacks(held, urls, 0), Texts());
  const PolicyRule names = {{"get"}, {"batch"}, {"jobs", "cronjobs"}, {"a", "b"}, {}};
  const std::string of =
      R"({APIGroups:["batch"], Resources:["cronjobs"], ResourceNames:["%"], Verbs:["get"]})";
  const auto named = [&of](const char* name) {
    std::string out = of;
    return out.replace(out.find('%'), 1, name);
  };
  EXPECT_EQ(lacks(held, names, 9), (Texts{named("a"), named("b")}));
  EXPECT_EQ(lacks(held, names, 1), Texts{named("a")});
}

// A rule that stands for 100,000 is taken apart, one of a single one more is not: verbs times URLs
// and resources.
TEST(PolicyRule, ARuleThatStandsForTooManyIsLackedAsAWhole) {
  const auto many = [](std::size_t n) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back("x" + std::to_string(i));
    return out;
  };
  const auto parts = [](const PolicyRule& wanted) { return uncovered({}, wanted, 5).size(); };
  EXPECT_EQ(parts({{"get"}, {"batch"}, many(100'000), {}, {}}), 5U);
  EXPECT_EQ(parts({{"get"}, {"batch"}, many(100'001), {}, {}}), 1U);
  EXPECT_EQ(parts({{"get", "list"}, {"batch"}, many(25'000), {"a", "b"}, {}}), 5U);
  EXPECT_EQ(parts({{"get", "list"}, {"batch"}, many(25'001), {"a", "b"}, {}}), 1U);
  EXPECT_EQ(parts({{"get"}, {"batch"}, many(50'000), {}, many(50'000)}), 5U);
  EXPECT_EQ(parts({{"get"}, {"batch"}, many(50'000), {}, many(50'001)}), 1U);
}

TEST(RbacIndex, NamespacesAreWalls) {
  const auto index =
      index_of({role("ClusterRole", "", "reader",
                     R"([{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["pods"]}])"),
                binding("team-a", "ClusterRole", "reader", "User", "jane")});
  EXPECT_TRUE(allowed(index, kJane, request("list", "pods", "team-a")));
  EXPECT_FALSE(allowed(index, kJane, request("list", "pods", "team-b")));
  EXPECT_FALSE(allowed(index, kJane, request("list", "pods"))) << "all namespaces";
  EXPECT_FALSE(allowed(index, kJane, request("watch", "pods")));
  EXPECT_FALSE(allowed(index, {"joe", "", {}}, request("list", "pods", "team-a")));
}

TEST(RbacIndex, SubjectsOfEachKind) {
  const std::string rules = R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])";
  auto account = binding("team-a", "Role", "reader", "ServiceAccount", "bot");
  account["subjects"].as_array()[0].as_object()["namespace"] = "ci";
  const auto index = index_of({role("Role", "team-a", "reader", rules), account,
                               binding("team-a", "Role", "reader", "Group", "dev")});
  EXPECT_TRUE(
      allowed(index, {"system:serviceaccount:ci:bot", "", {}}, request("get", "pods", "team-a")));
  EXPECT_FALSE(allowed(index, {"system:serviceaccount:team-a:bot", "", {}},
                       request("get", "pods", "team-a")));
  EXPECT_TRUE(allowed(index, kJane, request("get", "pods", "team-a")));
  EXPECT_FALSE(allowed(index, {"dev", "", {}}, request("get", "pods", "team-a")));
  EXPECT_FALSE(allowed(index, {"", "", {}}, request("get", "pods", "team-a")));
}

TEST(RbacIndex, ARoleOfAnotherNamespaceGivesNothing) {
  const std::string rules = R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])";
  const auto index = index_of({role("Role", "team-b", "reader", rules),
                               binding("team-a", "Role", "reader", "User", "jane")});
  EXPECT_FALSE(allowed(index, kJane, request("get", "pods", "team-a")));
  EXPECT_FALSE(allowed(index, kJane, request("get", "pods", "team-b")));
}

TEST(RbacIndex, AggregatedRolesFollowLabelsThroughSteps) {
  const auto labelled = [](json::object object, const std::string& label) {
    object["metadata"].as_object()["labels"] = json::object{{label, "true"}};
    return object;
  };
  const auto aggregate = [](json::object object, const std::string& label) {
    object["aggregationRule"] =
        parsed(R"({"clusterRoleSelectors":[{"matchLabels":{")" + label + R"(":"true"}}]})");
    return object;
  };
  const std::string pods = R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])";
  const std::string jobs = R"([{"verbs":["get"],"apiGroups":["batch"],"resources":["jobs"]}])";
  const auto index = index_of({
      aggregate(labelled(role("ClusterRole", "", "top", jobs), "loop"), "to-top"),
      aggregate(labelled(role("ClusterRole", "", "middle", "[]"), "to-top"), "to-middle"),
      labelled(role("ClusterRole", "", "leaf", pods), "to-middle"),
      aggregate(labelled(role("ClusterRole", "", "cycle", "[]"), "to-middle"), "loop"),
      binding("", "ClusterRole", "top", "User", "jane"),
  });
  EXPECT_TRUE(allowed(index, kJane, request("get", "pods", "n")));
  EXPECT_FALSE(allowed(index, kJane, request("get", "jobs", "n", "", "batch")))
      << "own rules of an aggregated role do not count";
}

// top takes left and right, which both take leaf: its one rule, once. Two that take one another
// take nothing.
TEST(RbacIndex, AnAggregatedRoleHasEachRoleOnce) {
  const auto aggregate = [](const char* name, const char* label, const char* from) {
    auto out = role("ClusterRole", "", name, "[]");
    out["metadata"].as_object()["labels"] = json::object{{label, "true"}};
    out["aggregationRule"] = parsed(R"({"clusterRoleSelectors":[{"matchLabels":{")" +
                                    std::string(from) + R"(":"true"}}]})");
    return out;
  };
  auto leaf = role("ClusterRole", "", "leaf",
                   R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])");
  leaf["metadata"].as_object()["labels"] = json::object{{"low", "true"}};
  const auto index = index_of({aggregate("top", "none", "high"), aggregate("left", "high", "low"),
                               aggregate("right", "high", "low"), leaf});
  ASSERT_NE(index.role("ClusterRole", "", "top"), nullptr);
  EXPECT_EQ(index.role("ClusterRole", "", "top")->size(), 1U);
  const auto mutual = index_of({aggregate("top", "none", "pair"), aggregate("a", "pair", "pair"),
                                aggregate("b", "pair", "pair")});
  EXPECT_EQ(mutual.role("ClusterRole", "", "top")->size(), 0U);
}

TEST(RbacIndex, MastersMayDoEverything) {
  const auto index = index_of({});
  const Identity admin{"admin", "", {"system:masters"}};
  EXPECT_TRUE(allowed(index, admin, request("delete", "secrets", "n", "x")));
  EXPECT_TRUE(allowed(index, admin, request("get", "/metrics")));
  EXPECT_FALSE(allowed(index, {"system:masters", "", {}}, request("get", "/metrics")));
}

TEST(Bootstrap, RolesGiveWhatTheirNamesSay) {
  Objects objects = bootstrap_objects();
  objects.push_back(binding("team-a", "ClusterRole", "view", "User", "vera"));
  objects.push_back(binding("team-a", "ClusterRole", "edit", "User", "ed"));
  objects.push_back(binding("team-a", "ClusterRole", "admin", "User", "ada"));
  objects.push_back(binding("team-a", "ClusterRole", "kueue-batch-user-role", "User", "bea"));
  objects.push_back(binding("", "ClusterRole", "kueue-batch-admin-role", "User", "bob"));
  objects.push_back(binding("", "ClusterRole", "cluster-admin", "User", "root"));
  const auto index = index_of(objects);
  const std::string kueue = "kueue.x-k8s.io";
  struct Case {
    std::string user, verb, resource, ns, group;
    bool allowed;
  };
  for (const Case& each : std::vector<Case>{
           {"vera", "list", "workloads", "team-a", kueue, true},
           {"vera", "get", "pods/log", "team-a", "", true},
           {"vera", "get", "secrets", "team-a", "", false},
           {"vera", "create", "jobs", "team-a", "batch", false},
           {"vera", "list", "workloads", "team-b", kueue, false},
           {"ed", "create", "jobs", "team-a", "batch", true},
           {"ed", "get", "jobs", "team-a", "batch", true},
           {"ed", "create", "rolebindings", "team-a", "rbac.authorization.k8s.io", false},
           {"ed", "create", "localqueues", "team-a", kueue, false},
           {"ada", "create", "rolebindings", "team-a", "rbac.authorization.k8s.io", true},
           {"ada", "create", "localqueues", "team-a", kueue, true},
           {"ada", "create", "jobs", "team-a", "batch", true},
           {"ada", "create", "clusterqueues", "", kueue, false},
           {"bea", "create", "jobs", "team-a", "batch", true},
           {"bea", "list", "localqueues", "team-a", kueue, true},
           {"bea", "create", "localqueues", "team-a", kueue, false},
           {"bea", "get", "localqueues/pendingworkloads", "team-a", "visibility.kueue.x-k8s.io",
            true},
           {"bob", "create", "clusterqueues", "", kueue, true},
           {"bob", "update", "resourceflavors", "", kueue, true},
           {"bob", "get", "clusterqueues/pendingworkloads", "", "visibility.kueue.x-k8s.io", true},
           {"bob", "create", "clusterroles", "", "rbac.authorization.k8s.io", false},
           {"root", "delete", "namespaces", "", "", true},
           {"root", "get", "/anything", "", "", true},
           {"nobody", "get", "/apis/batch/v1", "", "", true},
           {"nobody", "create", "selfsubjectaccessreviews", "", "authorization.k8s.io", true},
           {"nobody", "list", "pods", "team-a", "", false},
       }) {
    EXPECT_EQ(allowed(index, {each.user, "", {"system:authenticated"}},
                      request(each.verb, each.resource, each.ns, "", each.group)),
              each.allowed)
        << each.user << " " << each.verb << " " << each.resource;
  }
  EXPECT_TRUE(allowed(index, {"", "", {"system:unauthenticated"}}, request("get", "/version")));
  EXPECT_FALSE(allowed(index, {"", "", {"system:unauthenticated"}}, request("get", "/api")));
}

}  // namespace
}  // namespace sluice::host::test
