// Who may give a Workload which priority.
#include "host/access/priorities.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>

#include "tests/host/access/rbac_objects.hpp"

namespace sluice::host::test {
namespace {

std::string of_class(const std::string& name) {
  return R"(,"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass",)"
         R"("name":")" +
         name + R"("})";
}
const std::string kHigh = of_class("high"), kUnknown = of_class("none");

json::object workload(const std::string& priority, const std::string& more = "") {
  return json::parse(R"({"metadata":{"name":"w","namespace":"team-a"},"spec":{"queueName":"q")" +
                     (priority.empty() ? "" : R"(,"priority":)" + priority) + more + "}}")
      .as_object();
}

class Priorities : public testing::Test {
 protected:
  Priorities() {
    workloads_.group = "kueue.x-k8s.io";
    workloads_.kind = "Workload";
    workloads_.plural = "workloads";
    classes_.set("kueue.x-k8s.io/WorkloadPriorityClass/high", 100);
  }
  bool may(const json::object& after, const json::object* before = nullptr) {
    return !refuses_priority(index_, classes_, who_, workloads_, before, after);
  }

  RbacIndex index_ = index_of(
      {role("Role", "team-a", "all", R"([{"verbs":["prioritize"],"apiGroups":["kueue.x-k8s.io"],
                                          "resources":["workloads"]}])"),
       binding("team-a", "Role", "all", "User", "boss")});
  api::KindInfo workloads_;
  PriorityClasses classes_;
  Identity who_{"ann", "", {"system:authenticated"}};
};

TEST_F(Priorities, WhoMayWriteAWorkloadGivesItAtMostThatOfItsClass) {
  const struct {
    const char* priority;
    std::string more;
    bool allowed;
  } rows[] = {{"", "", true},        {"0", "", true},           {"-5", "", true},
              {"1", "", false},      {"2147483647", "", false}, {"100", kHigh, true},
              {"50", kHigh, true},   {"101", kHigh, false},     {"0", kUnknown, true},
              {"1", kUnknown, false}};
  for (const auto& row : rows)
    EXPECT_EQ(may(workload(row.priority, row.more)), row.allowed) << row.priority << row.more;
}

TEST_F(Priorities, WhatItHasItKeeps) {
  const json::object given = workload("7");
  EXPECT_TRUE(may(workload("7"), &given));
  EXPECT_FALSE(may(workload("3"), &given)) << "less than it has, and more than it may be given";
  EXPECT_FALSE(may(workload("8"), &given));
  EXPECT_TRUE(may(workload("0"), &given));
}

TEST_F(Priorities, MoreTakesTheVerbInTheNamespace) {
  who_.user = "boss";
  EXPECT_TRUE(may(workload("2147483647")));
  json::object elsewhere = workload("1");
  elsewhere["metadata"].as_object()["namespace"] = "team-b";
  EXPECT_FALSE(may(elsewhere));
}

TEST_F(Priorities, PluginsAndMastersActForTheSystem) {
  for (const char* group : {"system:plugins", "system:masters"}) {
    who_.groups = {group};
    EXPECT_TRUE(may(workload("2147483647"))) << group;
  }
}

TEST_F(Priorities, ARefusalSaysWhatIsAllowed) {
  const auto plain = refuses_priority(index_, classes_, who_, workloads_, nullptr, workload("9"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->text,
            "workloads.kueue.x-k8s.io \"w\" is forbidden: user \"ann\" may not give it priority 9: "
            "without a class the most is 0, and more takes the verb \"prioritize\" on workloads");
  const auto classed =
      refuses_priority(index_, classes_, who_, workloads_, nullptr, workload("101", kHigh));
  ASSERT_TRUE(classed);
  EXPECT_NE(classed->text.find("that of its class is 100"), std::string::npos) << classed->text;
}

}  // namespace
}  // namespace sluice::host::test
