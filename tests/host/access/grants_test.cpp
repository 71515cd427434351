// Who may give which rights, and how a refusal is worded.
#include "host/access/grants.hpp"

#include <gtest/gtest.h>

#include "host/access/denial.hpp"
#include "tests/host/access/rbac_objects.hpp"

namespace sluice::host::test {
namespace {

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

// 1,001 rules that are held and as many that are granted are 1,002,001 pairs.
TEST_F(Grants, TooManyRulesAreNotCompared) {
  std::string many = "[";
  for (int i = 0; i < 1001; ++i)
    many += std::string(i ? "," : "") +
            R"({"verbs":["get"],"apiGroups":["batch"],"resources":["x)" + std::to_string(i) +
            "\"]}";
  many += "]";
  const auto index = index_of(
      {role("Role", "team-a", "mine", many), binding("team-a", "Role", "mine", "User", "jane")});
  const auto refused =
      refuses_grant(index, kJane, rbac_kind("Role", "roles"), role("Role", "team-a", "new", many));
  ASSERT_TRUE(refused);
  EXPECT_EQ(
      refused->text,
      "roles.rbac.authorization.k8s.io \"new\" is forbidden: user \"jane\" "
      "(groups=[\"dev\" \"system:authenticated\"]) holds more than 999 rules and grants 1001, "
      "which are too many to be compared: the limit is 1000000 pairs");
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

}  // namespace
}  // namespace sluice::host::test
