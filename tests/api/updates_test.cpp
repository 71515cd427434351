// What may not change: an object beside the one that it replaces, in the words of Kubernetes.
#include <gmock/gmock.h>

#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

using testing::condition;
using testing::core_scheme;
using testing::kueue;
using testing::object;
using testing::pod_sets;

/// A workload of `count` pods that holds quota, or not.
boost::json::object workload(const std::string& members, bool reserved, int count = 2) {
  auto out =
      kueue("Workload", "{" + members + pod_sets(R"("count":)" + std::to_string(count)) + "}");
  if (reserved) {
    out["status"] = object(R"({"admission":{"clusterQueue":"c","podSetAssignments":[
      {"name":"main","count":2,"flavors":{"cpu":"f"}}]},"conditions":[)" +
                           condition("QuotaReserved") + "," + condition("Admitted") + "]}");
  }
  EXPECT_TRUE(core_scheme().admit(out).ok());
  return out;
}

std::vector<std::string> update_errors(boost::json::object before, boost::json::object after,
                                       const AdmitOptions& options = {}) {
  return testing::lines(core_scheme().admit(after, &before, options).errors);
}

/// A client that reads a workload into types of its own and writes it back changes nothing.
TEST(Updates, WhatMeansTheSameIsNoChange) {
  const auto reserved = [](const std::string& pod_template) {
    auto out = workload("", true);
    out["spec"].as_object()["podSets"].as_array()[0].as_object()["template"] = object(pod_template);
    return out;
  };
  const auto pod = [](const std::string& more, const std::string& cpu) {
    return "{" + more + R"("spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" +
           cpu + R"("}}}]}})";
  };
  const auto before = reserved(pod("", "1000m"));
  for (const char* more : {"", R"("metadata":{},)", R"("metadata":{"labels":{}},)"})
    EXPECT_THAT(update_errors(before, reserved(pod(more, "1"))), ::testing::IsEmpty()) << more;
  EXPECT_EQ(update_errors(before, reserved(pod("", "2"))).size(), 1U);
  EXPECT_EQ(update_errors(before, reserved(pod(R"("metadata":{"labels":{"a":"b"}},)", "1"))).size(),
            1U);
}

TEST(Updates, WhileQuotaIsReserved) {
  using ::testing::ElementsAre;
  EXPECT_THAT(update_errors(workload("", false), workload("", false, 3)), ElementsAre());
  EXPECT_THAT(update_errors(workload("", true), workload(R"("priority":7,)", true)), ElementsAre());
  EXPECT_THAT(
      update_errors(workload(R"("queueName":"a",)", false), workload(R"("queueName":"b",)", false)),
      ElementsAre());
  EXPECT_THAT(update_errors(workload("", true), workload("", true, 3)),
              ElementsAre("spec.podSets: Invalid value: \"array\": field is immutable while "
                          "workload quota reserved"));
  EXPECT_THAT(
      update_errors(workload(R"("queueName":"a",)", true), workload(R"("queueName":"b",)", true)),
      ElementsAre(
          R"(spec.queueName: Invalid value: "b": queueName is immutable while workload quota )"
          R"(reserved)"));
  EXPECT_THAT(
      update_errors(workload(R"("maximumExecutionTimeSeconds":1,)", true), workload("", true)),
      ElementsAre("spec.maximumExecutionTimeSeconds: Invalid value: null: "
                  "maximumExecutionTimeSeconds is immutable while workload quota reserved"));
  const std::string priority = R"("priority":1,"priorityClassRef":{"group":"scheduling.k8s.io",
                                  "kind":"PriorityClass","name":")";
  EXPECT_THAT(
      update_errors(workload(priority + "a\"},", true), workload(priority + "b\"},", true)),
      ElementsAre(
          R"(spec.priorityClassRef.name: Invalid value: "b": priorityClassRef.name is )"
          R"(immutable for scheduling.k8s.io/priorityclass while workload quota reserved)"));
}

TEST(Updates, CountsMayGoDownWhereThePluginAllowsIt) {
  const AdmitOptions allowed{.may_lower_counts = true};
  EXPECT_TRUE(update_errors(workload("", true), workload("", true, 1), allowed).empty());
  EXPECT_EQ(update_errors(workload("", true), workload("", true, 3), allowed).size(), 1u);
}

TEST(Updates, ReclaimablePodsOnlyGrow) {
  auto before = workload("", true);
  auto after = workload("", true);
  before["status"].as_object()["reclaimablePods"] =
      boost::json::parse(R"([{"name":"main","count":1}])");
  EXPECT_THAT(
      update_errors(before, after),
      ::testing::ElementsAre("status.reclaimablePods[main]: Required value: cannot be removed"));
  after["status"].as_object()["reclaimablePods"] =
      boost::json::parse(R"([{"name":"main","count":0}])");
  EXPECT_THAT(update_errors(before, after),
              ::testing::ElementsAre("status.reclaimablePods[main].count: Invalid value: 0: cannot "
                                     "be less than 1"));
  after["status"].as_object()["reclaimablePods"] =
      boost::json::parse(R"([{"name":"main","count":2}])");
  EXPECT_TRUE(update_errors(before, after).empty());
}

TEST(Updates, AnAdmissionIsReplacedByNoOther) {
  auto before = workload("", true);
  auto after = workload("", true);
  after["status"].as_object()["admission"].as_object()["clusterQueue"] = "d";
  EXPECT_THAT(update_errors(before, after),
              ::testing::ElementsAre(
                  "status.admission: Invalid value: \"object\": field is immutable once set"));
  EXPECT_TRUE(update_errors(before, workload("", false)).empty());
}

TEST(Updates, ImmutableFieldsOfOtherKinds) {
  const auto changed = [](const std::string& kind, const std::string& before,
                          const std::string& after) {
    auto old = kueue(kind, before);
    EXPECT_TRUE(core_scheme().admit(old).ok());
    return update_errors(old, kueue(kind, after));
  };
  EXPECT_THAT(
      changed("LocalQueue", R"({"clusterQueue":"a"})", R"({"clusterQueue":"b"})"),
      ::testing::ElementsAre(R"(spec.clusterQueue: Invalid value: "b": field is immutable)"));
  EXPECT_THAT(
      changed("AdmissionCheck", R"({"controllerName":"a"})", R"({"controllerName":"b"})"),
      ::testing::ElementsAre(R"(spec.controllerName: Invalid value: "b": field is immutable)"));
  const std::string topology = R"({"nodeLabels":{"a":"b"},"topologyName":"t"})";
  EXPECT_TRUE(changed("ResourceFlavor", R"({"nodeLabels":{"a":"b"}})", topology).empty());
  EXPECT_THAT(changed("ResourceFlavor", topology, R"({"nodeLabels":{"a":"b"}})"),
              ::testing::ElementsAre("spec.topologyName: Invalid value: null: topologyName is "
                                     "immutable when topologyName is set"));
}

}  // namespace
}  // namespace sluice::api
