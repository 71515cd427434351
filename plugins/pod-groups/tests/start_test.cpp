// What an admission puts into a pod.
#include "../start.hpp"

#include <gtest/gtest.h>

namespace pods {
namespace {

using sluice::Json;

Json pod(const std::string& more = "") {
  return Json::parse(R"({"metadata":{"name":"p","labels":{"kueue.x-k8s.io/queue-name":"q"}},
    "spec":{"schedulingGates":[{"name":"mine"},{"name":"kueue.x-k8s.io/admission"}],
    "containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}])" +
                     more + "}}");
}

Json workload(const std::string& checks = "[]", const char* cpu = "1") {
  return Json::parse(R"({"metadata":{"name":"w"},"spec":{"podSets":[{"name":"main","count":1,
    "template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" +
                     std::string(cpu) + R"("}}}]}}}]},
    "status":{"admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main",
      "flavors":{"cpu":"spot","memory":"spot"}}]},
    "schedulingStats":{"evictions":[{"reason":"A","count":1},{"reason":"B","count":2}]},
    "admissionChecks":)" +
                     checks + "}}");
}

std::optional<Json> flavor(const std::string& name) {
  if (name != "spot") return std::nullopt;
  return Json::parse(R"({"spec":{"nodeLabels":{"kind":"spot"},
    "tolerations":[{"key":"spot","operator":"Exists"}]}})");
}

TEST(Start, TakesTheFlavorsNodesAndTheGate) {
  Json started = pod();
  ASSERT_EQ(let_start(started, workload(), "main", flavor), "");
  EXPECT_EQ(started.find("spec.nodeSelector")->dump(), R"({"kind":"spot"})");
  EXPECT_EQ(started.find("spec.tolerations")->dump(), R"([{"key":"spot","operator":"Exists"}])");
  EXPECT_EQ(started.find("spec.schedulingGates")->dump(), R"([{"name":"mine"}])")
      << "what others hold stays held";
  EXPECT_EQ(started.find("metadata.labels")->member("kueue.x-k8s.io/podset")->as_string(), "main");
  const Json& annotations = *started.find("metadata.annotations");
  EXPECT_EQ(annotations.member("kueue.x-k8s.io/workload")->as_string(), "w");
  EXPECT_EQ(annotations.member("pod-groups.sluice.dev/evictions")->as_string(), "3");  // 1 + 2
}

TEST(Start, TakesWhatChecksWantOfThePodSet) {
  const Json admitted = workload(R"([{"name":"c","podSetUpdates":[
    {"name":"other","labels":{"no":"no"}},
    {"name":"main","labels":{"l":"1"},"annotations":{"a":"2"},"nodeSelector":{"n":"3"},
     "tolerations":[{"key":"spot","operator":"Exists"},{"key":"t"}]}]}])");
  Json started = pod();
  ASSERT_EQ(let_start(started, admitted, "main", flavor), "");
  EXPECT_EQ(started.find("spec.nodeSelector")->dump(), R"({"kind":"spot","n":"3"})");
  EXPECT_EQ(started.find("spec.tolerations")->size(), 2U) << "one of them was there";
  EXPECT_EQ(started.string_or("metadata.labels.l", ""), "1");
  EXPECT_EQ(started.string_or("metadata.annotations.a", ""), "2");
  EXPECT_EQ(started.find("metadata.labels.no"), nullptr);
}

TEST(Start, APodThatSaysOtherwiseDoesNotStart) {
  Json other = pod(R"(,"nodeSelector":{"kind":"on-demand"})");
  EXPECT_EQ(let_start(other, workload(), "main", flavor),
            R"(nodeSelector kind of the pod is "on-demand", but the admission wants "spot")");
}

TEST(Start, APodThatAsksForMoreThanIsCountedDoesNotStart) {
  Json large = pod();
  EXPECT_EQ(let_start(large, workload("[]", "500m"), "main", flavor),
            "the pod asks for something else than pod set main of its workload");
  EXPECT_EQ(let_start(large, workload(), "unknown", flavor),
            "the pod asks for something else than pod set unknown of its workload");
}

}  // namespace
}  // namespace pods
