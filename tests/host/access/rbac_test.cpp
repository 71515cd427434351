// Rules, bindings, aggregation, escalation; and the index against a reference that reads the
// objects as they are, over random worlds.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <random>

#include "api/json/json.hpp"
#include "host/access/bootstrap.hpp"
#include "host/access/denial.hpp"
#include "host/access/grants.hpp"
#include "host/access/rbac_index.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

using Objects = std::vector<json::object>;

json::object parsed(const std::string& text) { return json::parse(text).get_object(); }

RbacIndex index_of(const Objects& objects) {
  RbacIndex out;
  for (const auto& object : objects) {
    out.add(std::make_shared<const RbacObject>(
        RbacObject::parse(api::find_text(object, "kind"), object)));
  }
  out.finish();
  return out;
}

/// `get pods/log.batch team-a/x`, or `get /healthz`.
AccessRequest request(std::string_view verb, std::string_view resource, std::string_view ns = {},
                      std::string_view name = {}, std::string_view group = {}) {
  AccessRequest out;
  out.verb = verb;
  if (!resource.empty() && resource[0] == '/') {
    out.path = resource;
    return out;
  }
  const auto slash = resource.find('/');
  out.resource = resource.substr(0, slash);
  if (slash != std::string_view::npos) out.subresource = resource.substr(slash + 1);
  out.ns = ns;
  out.name = name;
  out.group = group;
  return out;
}

json::object role(const std::string& kind, const std::string& ns, const std::string& name,
                  const std::string& rules) {
  return parsed(R"({"kind":")" + kind + R"(","metadata":{"name":")" + name + R"(","namespace":")" +
                ns + R"("},"rules":)" + rules + "}");
}

json::object binding(const std::string& ns, const std::string& role_kind, const std::string& role,
                     const std::string& subject_kind, const std::string& subject) {
  const std::string kind = ns.empty() ? "ClusterRoleBinding" : "RoleBinding";
  return parsed(R"({"kind":")" + kind + R"(","metadata":{"name":"b-)" + role + subject +
                R"(","namespace":")" + ns + R"("},"roleRef":{"kind":")" + role_kind +
                R"(","name":")" + role + R"("},"subjects":[{"kind":")" + subject_kind +
                R"(","name":")" + subject + R"("}]})");
}

bool allowed(const RbacIndex& index, const Identity& who, const AccessRequest& what) {
  return index.may(who, what).allowed;
}

const Identity kJane{"jane", "", {"dev", "system:authenticated"}};

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

// ---- grants

api::KindInfo rbac_kind(const std::string& kind, const std::string& plural) {
  api::KindInfo out;
  out.group = "rbac.authorization.k8s.io";
  out.kind = kind;
  out.plural = plural;
  return out;
}

class Grants : public testing::Test {
 protected:
  static std::string rules(const std::string& verbs, const std::string& resources,
                           const std::string& more = "") {
    return R"([{"apiGroups":["batch"],"verbs":)" + verbs + R"(,"resources":)" + resources + more +
           "}]";
  }
  bool may_write(const json::object& object) {
    const std::string kind(api::find_text(object, "kind"));
    std::string plural = kind + "s";
    for (char& c : plural) c = static_cast<char>(std::tolower(c));
    return !refuses_grant(index_, kJane, rbac_kind(kind, plural), object);
  }

  RbacIndex index_ = index_of(
      {role("Role", "team-a", "mine",
            R"([{"verbs":["get","list"],"apiGroups":["batch"],"resources":["jobs","jobs/status"]},
                {"verbs":["*"],"apiGroups":["batch"],"resources":["cronjobs"],
                 "resourceNames":["c"]},
                {"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],
                 "resources":["clusterroles"],"resourceNames":["strong"]},
                {"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],
                 "resources":["roles"],"resourceNames":["free"]}])"),
       binding("team-a", "Role", "mine", "User", "jane"),
       role("ClusterRole", "", "strong",
            R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])"),
       role("ClusterRole", "", "powerful",
            R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])"),
       role("ClusterRole", "", "weak",
            R"([{"verbs":["get"],"apiGroups":["batch"],"resources":["jobs"]}])")});
};

TEST_F(Grants, NobodyGivesMoreThanHeHas) {
  struct Case {
    std::string ns, rules;
    bool allowed;
  };
  for (const Case& each : std::vector<Case>{
           {"team-a", rules(R"(["get"])", R"(["jobs"])"), true},
           {"team-a", rules(R"(["get","list"])", R"(["jobs","jobs/status"])"), true},
           {"team-a", rules(R"(["get"])", R"(["jobs"])", R"(,"resourceNames":["x"])"), true},
           {"team-a", rules(R"(["get"])", R"(["cronjobs"])", R"(,"resourceNames":["c"])"), true},
           {"team-a", rules(R"(["get"])", R"(["cronjobs"])"), false},
           {"team-a", rules(R"(["get"])", R"(["cronjobs"])", R"(,"resourceNames":["c","d"])"),
            false},
           {"team-a", rules(R"(["delete"])", R"(["jobs"])"), false},
           {"team-a", rules(R"(["*"])", R"(["jobs"])"), false},
           {"team-a", rules(R"(["get"])", R"(["*"])"), false},
           {"team-a", rules(R"(["get"])", R"(["*/status"])"), false},
           {"team-b", rules(R"(["get"])", R"(["jobs"])"), false},
           {"team-a", "[]", true},
       }) {
    EXPECT_EQ(may_write(role("Role", each.ns, "new", each.rules)), each.allowed)
        << each.ns << " " << each.rules;
  }
  EXPECT_FALSE(may_write(role("ClusterRole", "", "new", rules(R"(["get"])", R"(["jobs"])"))));
}

TEST_F(Grants, EscalateAndBindAreVerbsOfTheirOwn) {
  EXPECT_TRUE(may_write(role("Role", "team-a", "free", rules(R"(["*"])", R"(["*"])"))));
  EXPECT_FALSE(may_write(role("Role", "team-b", "free", rules(R"(["*"])", R"(["*"])"))));
  EXPECT_TRUE(may_write(binding("team-a", "ClusterRole", "strong", "User", "joe")));
  EXPECT_FALSE(may_write(binding("team-a", "ClusterRole", "powerful", "User", "joe")));
  EXPECT_TRUE(may_write(binding("team-a", "ClusterRole", "weak", "User", "joe")));
  EXPECT_FALSE(may_write(binding("", "ClusterRole", "weak", "User", "joe")));
  EXPECT_FALSE(may_write(binding("team-a", "ClusterRole", "missing", "User", "joe")));
}

TEST_F(Grants, TheRefusalNamesWhatIsMissing) {
  const auto refused =
      refuses_grant(index_, kJane, rbac_kind("Role", "roles"),
                    role("Role", "team-a", "new", rules(R"(["get","delete"])", R"(["jobs"])")));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, 403);
  EXPECT_EQ(refused->text,
            "roles.rbac.authorization.k8s.io \"new\" is forbidden: user \"jane\" "
            "(groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions "
            "not currently held:\n{APIGroups:[\"batch\"], Resources:[\"jobs\"], "
            "Verbs:[\"delete\"]}");
}

// Twenty at most, of however many rules: of twice 15 all of the first and five of the second.
TEST_F(Grants, TheRefusalNamesTwenty) {
  std::string many = "[";
  for (int i = 0; i < 15; ++i) many += std::string(i ? "," : "") + "\"x" + std::to_string(i) + "\"";
  many += "]";
  const std::string rule = R"({"apiGroups":["batch"],"verbs":["get"],"resources":)" + many + "}";
  const auto refused = refuses_grant(index_, kJane, rbac_kind("Role", "roles"),
                                     role("Role", "team-a", "new", "[" + rule + "," + rule + "]"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::count(refused->text.begin(), refused->text.end(), '\n'), 20);
  EXPECT_TRUE(refused->text.ends_with(R"(Resources:["x4"], Verbs:["get"]})")) << refused->text;
}

TEST_F(Grants, AggregationTakesTheRightToEverything) {
  auto object = role("ClusterRole", "", "sum", "[]");
  object["aggregationRule"] = json::object();
  EXPECT_FALSE(may_write(object));
  EXPECT_FALSE(refuses_grant(index_, {"admin", "", {"system:masters"}},
                             rbac_kind("ClusterRole", "clusterroles"), object));
}

TEST_F(Grants, HugeRulesAreRefusedRatherThanTakenApart) {
  std::string many = "[";
  for (int i = 0; i < 1000; ++i)
    many += std::string(i ? "," : "") + "\"x" + std::to_string(i) + "\"";
  many += "]";
  EXPECT_FALSE(may_write(role("Role", "team-a", "new", rules(many, many))));
}

// 2,001 rules that are held and as many that are granted are 4,004,001 pairs.
TEST_F(Grants, TooManyRulesAreNotCompared) {
  std::string many = "[";
  for (int i = 0; i < 2001; ++i)
    many += std::string(i ? "," : "") +
            R"({"verbs":["get"],"apiGroups":["batch"],"resources":["x)" + std::to_string(i) +
            "\"]}";
  many += "]";
  const auto index = index_of(
      {role("Role", "team-a", "mine", many), binding("team-a", "Role", "mine", "User", "jane")});
  const auto refused =
      refuses_grant(index, kJane, rbac_kind("Role", "roles"), role("Role", "team-a", "new", many));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->text,
            "roles.rbac.authorization.k8s.io \"new\" is forbidden: user \"jane\" "
            "(groups=[\"dev\" \"system:authenticated\"]) holds 2001 rules and grants 2001, which "
            "are too many to be compared: the limit is 4000000 pairs");
}

TEST(Denial, IsWordedAsClientsKnowIt) {
  const auto list =
      access_denied(kJane, request("list", "workloads", "team-a", "", "kueue.x-k8s.io"));
  EXPECT_EQ(list.code, 403);
  EXPECT_EQ(list.text,
            "workloads.kueue.x-k8s.io is forbidden: User \"jane\" cannot list resource "
            "\"workloads\" in API group \"kueue.x-k8s.io\" in the namespace \"team-a\"");
  EXPECT_EQ(access_denied(kJane, request("get", "pods/log", "", "p")).text,
            "pods \"p\" is forbidden: User \"jane\" cannot get resource \"pods/log\" in API group "
            "\"\" at the cluster scope");
  EXPECT_EQ(access_denied(kJane, request("get", "pods/log", "", "p"), "not here").text,
            "pods \"p\" is forbidden: User \"jane\" cannot get resource \"pods/log\" in API group "
            "\"\" at the cluster scope: not here");
  EXPECT_EQ(access_denied(kJane, request("get", "/metrics")).text,
            "forbidden: User \"jane\" cannot get path \"/metrics\"");
}

// ---- the matrix

/// The definition, read off the objects: is there a binding of this subject, in force here, to a
/// role with a rule that says so?
class Reference {
 public:
  explicit Reference(const Objects& objects) : objects_(objects) {}

  bool may(const Identity& who, const AccessRequest& what) const {
    for (const auto& each : objects_) {
      const auto* reference = api::find_object(each, "roleRef");
      if (reference == nullptr) continue;
      const std::string ns = meta(each, "namespace");
      const bool cluster = api::find_text(each, "kind") == "ClusterRoleBinding";
      if (!cluster && (!what.path.empty() || what.ns.empty() || what.ns != ns)) continue;
      if (!names(each, who)) continue;
      for (const auto& role : objects_) {
        if (api::find_text(role, "kind") != api::find_text(*reference, "kind")) continue;
        if (meta(role, "name") != api::find_text(*reference, "name")) continue;
        if (api::find_text(role, "kind") == "Role" && meta(role, "namespace") != ns) continue;
        for (const auto& rule : rules_of(role)) {
          if (says(rule, what)) return true;
        }
      }
    }
    return false;
  }

 private:
  static std::string meta(const json::object& object, const char* key) {
    return std::string(api::find_text(*api::find_object(object, "metadata"), key));
  }
  static bool names(const json::object& binding, const Identity& who) {
    for (const auto& each : *api::find_array(binding, "subjects")) {
      const auto& subject = each.get_object();
      const std::string kind(api::find_text(subject, "kind"));
      const std::string name(api::find_text(subject, "name"));
      if (kind == "User" && name == who.user) return true;
      if (kind == "Group" && std::count(who.groups.begin(), who.groups.end(), name) != 0)
        return true;
    }
    return false;
  }
  std::vector<json::object> rules_of(const json::object& role) const {
    std::vector<json::object> out;
    std::vector<const json::object*> roles = {&role};
    if (role.contains("aggregationRule")) {
      roles.clear();
      const auto label =
          role.at("aggregationRule").at("clusterRoleSelectors").at(0).at("matchLabels");
      for (const auto& other : objects_) {
        if (api::find_text(other, "kind") != "ClusterRole") continue;
        const auto* labels = api::find_object(*api::find_object(other, "metadata"), "labels");
        if (labels != nullptr && labels->contains(label.get_object().begin()->key()))
          roles.push_back(&other);
      }
    }
    for (const auto* each : roles) {
      for (const auto& rule : *api::find_array(*each, "rules")) out.push_back(rule.get_object());
    }
    return out;
  }
  static bool lists(const json::object& rule, const char* key, const std::string& text) {
    const auto* list = api::find_array(rule, key);
    return list != nullptr && std::any_of(list->begin(), list->end(), [&](const auto& each) {
             return api::view(each.get_string()) == text;
           });
  }
  static bool says(const json::object& rule, const AccessRequest& what) {
    if (!lists(rule, "verbs", std::string(what.verb)) && !lists(rule, "verbs", "*")) return false;
    if (!what.path.empty()) {
      if (lists(rule, "nonResourceURLs", "*")) return true;
      if (lists(rule, "nonResourceURLs", std::string(what.path))) return true;
      for (std::size_t i = 0; i <= what.path.size(); ++i) {
        if (lists(rule, "nonResourceURLs", std::string(what.path.substr(0, i)) + "*")) return true;
      }
      return false;
    }
    if (!lists(rule, "apiGroups", std::string(what.group)) && !lists(rule, "apiGroups", "*"))
      return false;
    std::string full(what.resource);
    if (!what.subresource.empty()) full += "/" + std::string(what.subresource);
    bool resource = lists(rule, "resources", "*") || lists(rule, "resources", full);
    if (!what.subresource.empty())
      resource = resource || lists(rule, "resources", "*/" + std::string(what.subresource));
    if (!resource) return false;
    const auto* names = api::find_array(rule, "resourceNames");
    return names == nullptr || names->empty() ||
           lists(rule, "resourceNames", std::string(what.name));
  }

  const Objects& objects_;
};

class RandomWorld {
 public:
  explicit RandomWorld(unsigned seed) : random_(seed) {}

  Objects objects() {
    Objects out;
    for (int i = 0; i < 4; ++i) {
      out.push_back(role_named("Role", pick({"n1", "n2"}), "r" + std::to_string(i)));
      auto cluster = role_named("ClusterRole", "", "c" + std::to_string(i));
      if (chance(3)) cluster["metadata"].as_object()["labels"] = json::object{{"in", "1"}};
      out.push_back(cluster);
    }
    auto sum = role_named("ClusterRole", "", "sum");
    sum["aggregationRule"] = parsed(R"({"clusterRoleSelectors":[{"matchLabels":{"in":"1"}}]})");
    out.push_back(sum);
    for (int i = 0; i < 6; ++i) {
      const std::string ns = pick({"", "n1", "n2"});
      const bool role = !ns.empty() && chance(2);
      const std::string name =
          role ? pick({"r0", "r1", "r2", "r3"}) : pick({"c0", "c1", "c2", "c3", "sum", "missing"});
      const bool user = chance(2);
      out.push_back(binding(ns, role ? "Role" : "ClusterRole", name, user ? "User" : "Group",
                            user ? pick({"u1", "u2"}) : pick({"g1", "g2"})));
    }
    return out;
  }

 private:
  bool chance(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }
  std::string pick(const std::vector<std::string>& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random_)];
  }
  json::array some(const std::vector<std::string>& from) {
    json::array out;
    for (const auto& each : from) {
      if (chance(3)) out.emplace_back(each);
    }
    if (out.empty()) out.emplace_back(pick(from));
    return out;
  }
  json::object role_named(const std::string& kind, const std::string& ns, const std::string& name) {
    json::array rules;
    for (int i = 0; i < 2; ++i) {
      json::object rule;
      rule["verbs"] = some({"get", "list", "create", "*"});
      if (chance(4) && kind == "ClusterRole") {
        rule["nonResourceURLs"] = some({"/a", "/a/*", "/b*", "*"});
      } else {
        rule["apiGroups"] = some({"", "batch", "*"});
        rule["resources"] = some({"pods", "pods/log", "jobs", "*/log", "*"});
        if (chance(3)) rule["resourceNames"] = some({"x", "y"});
      }
      rules.push_back(std::move(rule));
    }
    return role(kind, ns, name, api::to_json(rules));
  }

  std::mt19937 random_;
};

TEST(RbacMatrix, AgreesWithTheDefinitionEverywhere) {
  std::size_t asked = 0, let_through = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const Objects objects = RandomWorld(seed).objects();
    const RbacIndex index = index_of(objects);
    const Reference reference(objects);
    std::vector<AccessRequest> requests;
    for (const char* verb : {"get", "list", "create"}) {
      for (const char* path : {"/a", "/a/b", "/b", "/bc", "/"})
        requests.push_back(request(verb, path));
      for (const char* group : {"", "batch"}) {
        for (const char* resource : {"pods", "pods/log", "jobs", "jobs/log"}) {
          for (const char* ns : {"", "n1", "n2"}) {
            for (const char* name : {"", "x"})
              requests.push_back(request(verb, resource, ns, name, group));
          }
        }
      }
    }
    for (const Identity& who : std::vector<Identity>{
             {"u1", "", {}}, {"u2", "", {"g1"}}, {"u3", "", {"g1", "g2"}}, {"", "", {"g2"}}}) {
      for (const AccessRequest& what : requests) {
        const bool expected = reference.may(who, what);
        ASSERT_EQ(index.may(who, what).allowed, expected)
            << "seed " << seed << ": " << denial_text(who, what);
        ++asked;
        let_through += expected ? 1 : 0;
      }
    }
  }
  EXPECT_GT(let_through, asked / 20);
  EXPECT_LT(let_through, asked - asked / 20);
}

}  // namespace
}  // namespace sluice::host
