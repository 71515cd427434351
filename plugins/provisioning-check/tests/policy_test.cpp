// What the check decides: which pod sets need capacity, which are asked for together, what
// conditions mean.
#include "../policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace provisioning {
namespace {

using sluice::CheckAnswer;
using sluice::Json;
using ::testing::ElementsAre;
using ::testing::Pair;

using State = CheckAnswer::State;

Config config(const std::string& spec) {
  return config_of(Json::parse(R"({"spec":{"provisioningClassName":"c")" + spec + "}}"));
}

std::string container(const std::string& resources) {
  return R"({"name":"c","resources":{"requests":{)" + resources + "}}}";
}
std::string pod_set(const std::string& name, int count, const std::string& resources,
                    const std::string& more = "") {
  return R"({"name":")" + name + R"(","count":)" + std::to_string(count) +
         R"(,"template":{"metadata":{"labels":{"of":")" + (more.empty() ? "all" : name) +
         R"("}},"spec":{"containers":[)" + container(resources) + "]}}}";
}
std::string assigned(const std::string& name, int count, const std::string& flavors) {
  return R"({"name":")" + name + R"(","count":)" + std::to_string(count) + R"(,"flavors":{)" +
         flavors + "}}";
}
Json workload(const std::string& sets, const std::string& assignments) {
  return Json::parse(R"({"metadata":{"annotations":{"provreq.kueue.x-k8s.io/Zone":"b",
    "provreq.kueue.x-k8s.io/":"x","other":"y"}},"spec":{"podSets":[)" +
                     sets + R"(]},"status":{"admission":{"podSetAssignments":[)" + assignments +
                     "]}}}");
}
Json flavor(const std::string& name) {
  if (name != "spot") return Json();
  return Json::parse(R"({"spec":{"nodeLabels":{"cheap":"yes"},"tolerations":[{"key":"spot"}]}})");
}

TEST(Policy, DefaultsOfTheConfiguration) {
  const Config out = config("");
  EXPECT_EQ(out.class_name, "c");
  EXPECT_EQ(out.retry_limit, 3);
  EXPECT_EQ(out.retry_base_seconds, 60);
  EXPECT_EQ(out.retry_max_seconds, 1800);
  EXPECT_EQ(out.merge, Merge::kNever);
}

TEST(Policy, TheParametersOfACheck) {
  const auto name = [](const std::string& spec) {
    const ConfigName out = config_name_of(Json::parse(R"({"spec":{)" + spec + "}}"));
    return out.wrong.empty() ? out.name : "! " + out.wrong;
  };
  EXPECT_EQ(name(R"("parameters":{"apiGroup":"kueue.x-k8s.io","name":"a",
                                  "kind":"ProvisioningRequestConfig"})"),
            "a");
  EXPECT_EQ(name(""), "! spec.parameters has to name a ProvisioningRequestConfig");
  EXPECT_EQ(name(R"("parameters":{"apiGroup":"a.b","kind":"K","name":"a"})"),
            "! spec.parameters names a K of a.b; a ProvisioningRequestConfig of kueue.x-k8s.io is "
            "needed");
}

TEST(Policy, AnnotationsOfTheWorkloadGoBeforeTheConfiguration) {
  EXPECT_THAT(parameters_of(config(R"(,"parameters":{"Zone":"a","Size":"1"})"), workload("", "")),
              ElementsAre(Pair("Zone", "b"), Pair("Size", "1")));
}

TEST(Policy, PodSetsThatNeedCapacity) {
  const Json both =
      workload(pod_set("driver", 1, R"("cpu":"1")") + "," + pod_set("workers", 5, R"("gpu":1)"),
               assigned("driver", 1, R"("cpu":"on-demand")") + "," +
                   assigned("workers", 3, R"("gpu":"spot","cpu":"spot")"));
  const auto all = pod_sets_of(config(""), both, flavor);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].count, 3) << "what was granted, not what was asked for";
  EXPECT_EQ(all[1].pod_template.find("spec.nodeSelector")->dump(), R"({"cheap":"yes"})");
  EXPECT_EQ(all[1].pod_template.find("spec.tolerations")->size(), 1u) << "once per flavor";
  EXPECT_EQ(all[0].pod_template.find("spec.nodeSelector"), nullptr);

  const auto managed = pod_sets_of(config(R"(,"managedResources":["gpu"])"), both, flavor);
  ASSERT_EQ(managed.size(), 1u);
  EXPECT_EQ(managed[0].name, "workers");
  EXPECT_TRUE(pod_sets_of(config(R"(,"managedResources":["tpu"])"), both, flavor).empty());
  const Json none = workload(pod_set("w", 1, ""), assigned("w", 0, ""));
  EXPECT_TRUE(pod_sets_of(config(""), none, flavor).empty()) << "granted no pods";
}

TEST(Policy, PodSetsAreMerged) {
  struct Case {
    const char* policy;
    std::vector<std::string> shares;
  };
  // a and b have the same template, c differs in a label, d in what it asks for.
  const Json four = workload(
      pod_set("a", 1, R"("cpu":"1")") + "," + pod_set("b", 2, R"("cpu":"1")") + "," +
          pod_set("c", 3, R"("cpu":"1")", "own label") + "," + pod_set("d", 4, R"("cpu":"2")"),
      assigned("a", 1, "") + "," + assigned("b", 2, "") + "," + assigned("c", 3, "") + "," +
          assigned("d", 4, ""));
  for (const Case& each :
       {Case{"", {"a 1", "b 2", "c 3", "d 4"}},
        Case{R"(,"podSetMergePolicy":"IdenticalPodTemplates")", {"a 3", "c 3", "d 4"}},
        Case{R"(,"podSetMergePolicy":"IdenticalWorkloadSchedulingRequirements")",
             {"a 6", "d 4"}}}) {
    const Config with = config(each.policy);
    const auto sets = pod_sets_of(with, four, flavor);
    std::vector<std::string> shares;
    for (const Share& share : merged(sets, with.merge))
      shares.push_back(share.pod_set + " " + std::to_string(share.count));
    EXPECT_EQ(shares, each.shares) << each.policy;
  }
}

TEST(Policy, BackoffDoublesUpToItsLimit) {
  const Config with =
      config(R"(,"retryStrategy":{"backoffBaseSeconds":60,"backoffMaxSeconds":200})");
  EXPECT_EQ(backoff_seconds(with, 1), 60);
  EXPECT_EQ(backoff_seconds(with, 2), 120);
  EXPECT_EQ(backoff_seconds(with, 3), 200);
  EXPECT_EQ(backoff_seconds(with, 1'000'000), 200);
}

std::string conditions(const std::vector<std::pair<std::string, std::string>>& all) {
  std::string out;
  for (const auto& [type, message] : all) {
    const bool no = type[0] == '!';
    out += (out.empty() ? "" : ",") + std::string(R"({"type":")") + type.substr(no ? 1 : 0) +
           R"(","status":")" + (no ? "False" : "True") + R"(","message":")" + message + "\"}";
  }
  return "[" + out + "]";
}

struct Meaning {
  std::vector<std::pair<std::string, std::string>> conditions;
  std::int64_t attempt;
  bool admitted;
  State state;
  std::string message;
  std::optional<std::int32_t> after;
};

TEST(Policy, WhatConditionsMean) {
  const Meaning all[] = {
      {{}, 1, false, State::kPending, "", {}},
      {{{"Accepted", "fine"}}, 1, false, State::kPending, "fine", {}},
      {{{"Accepted", "fine"}, {"!Provisioned", "in 5 min"}},
       1,
       false,
       State::kPending,
       "in 5 min",
       {}},
      {{{"!Accepted", "no"}, {"!Failed", "not yet"}}, 1, false, State::kPending, "", {}},
      {{{"Accepted", ""}, {"Provisioned", "there"}}, 1, false, State::kReady, "there", {}},
      {{{"Provisioned", "there"}, {"Failed", "oh"}},
       1,
       false,
       State::kRetry,
       "Retrying after failure: oh",
       60},
      {{{"Failed", "oh"}}, 3, false, State::kRetry, "Retrying after failure: oh", 240},
      {{{"Failed", "oh"}}, 4, false, State::kRejected, "oh", {}},
      {{{"Provisioned", "there"}, {"BookingExpired", "late"}},
       2,
       false,
       State::kRetry,
       "Retrying after booking expired: late",
       120},
      {{{"Provisioned", "there"}, {"BookingExpired", "late"}},
       4,
       false,
       State::kRejected,
       "late",
       {}},
      {{{"Provisioned", "there"}, {"BookingExpired", "late"}}, 2, true, State::kReady, "there", {}},
      {{{"Provisioned", "there"}, {"CapacityRevoked", "gone"}},
       1,
       true,
       State::kRejected,
       "gone",
       {}}};
  for (const Meaning& each : all) {
    const std::string list = conditions(each.conditions);
    const Json request = Json::parse(
        R"({"metadata":{"name":"r"},"spec":{"provisioningClassName":"c"},"status":{"conditions":)" +
        list + "}}");
    const CheckAnswer answer =
        answer_of(request, config(""), each.attempt, each.admitted, {"main"});
    EXPECT_EQ(answer.state, each.state) << list;
    EXPECT_EQ(answer.message, each.message) << list;
    EXPECT_EQ(answer.requeue_after_seconds, each.after) << list;
  }
}

TEST(Policy, ReadyPodsAreToldWhereTheirCapacityIs) {
  const Json request = Json::parse(R"({"metadata":{"name":"r"},
    "spec":{"provisioningClassName":"c"},"status":{"conditions":[
      {"type":"Provisioned","status":"True"}],"provisioningClassDetails":{"pool":"p1"}}})");
  const Config with = config(R"(,"podSetUpdates":{"nodeSelector":[
    {"key":"example.com/pool","valueFromProvisioningClassDetail":"pool"},
    {"key":"example.com/rack","valueFromProvisioningClassDetail":"rack"}]})");
  EXPECT_EQ(answer_of(request, with, 1, false, {"a", "b"}).pod_set_updates,
            R"([{"name":"a","annotations":{)"
            R"("autoscaling.x-k8s.io/consume-provisioning-request":"r",)"
            R"("autoscaling.x-k8s.io/provisioning-class-name":"c"},)"
            R"("nodeSelector":{"example.com/pool":"p1"}},{"name":"b","annotations":{)"
            R"("autoscaling.x-k8s.io/consume-provisioning-request":"r",)"
            R"("autoscaling.x-k8s.io/provisioning-class-name":"c"},)"
            R"("nodeSelector":{"example.com/pool":"p1"}}])");
}

}  // namespace
}  // namespace provisioning
