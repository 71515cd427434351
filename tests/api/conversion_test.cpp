// v1beta1 to the hub form and back.
#include <gmock/gmock.h>

#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

using testing::core_scheme;
using testing::kueue;
using testing::object;

boost::json::object to_hub(boost::json::object input) {
  const Outcome outcome = core_scheme().admit(input);
  EXPECT_TRUE(outcome.ok()) << outcome.error_text();
  EXPECT_TRUE(outcome.warnings.empty());
  return input;
}

boost::json::object to_v1beta1(boost::json::object hub) {
  const auto converted = core_scheme().to_version(hub, "v1beta1");
  EXPECT_TRUE(converted.ok());
  return hub;
}

TEST(Conversion, ClusterQueue) {
  const auto hub =
      to_hub(kueue("ClusterQueue", R"({"cohort":"all","admissionChecks":["a","b"]})", "v1beta1"));
  EXPECT_EQ(hub.at("apiVersion"), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(hub.at("spec").at("cohortName"), "all");
  EXPECT_FALSE(hub.at("spec").as_object().contains("cohort"));
  EXPECT_EQ(hub.at("spec").at("admissionChecksStrategy"),
            boost::json::parse(R"({"admissionChecks":[{"name":"a"},{"name":"b"}]})"));

  const auto back = to_v1beta1(hub);
  EXPECT_EQ(back.at("apiVersion"), "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(back.at("spec").at("cohort"), "all");
  EXPECT_FALSE(back.at("spec").as_object().contains("cohortName"));
  EXPECT_EQ(to_hub(back), hub);
}

constexpr const char* kList = R"({"admissionChecks":["a","b"]})";
constexpr const char* kStrategy =
    R"({"admissionChecksStrategy":{"admissionChecks":[{"name":"a"},{"name":"b"}]}})";
constexpr const char* kBoth = R"({"admissionChecks":["b","a"],)"
                              R"("admissionChecksStrategy":{"admissionChecks":[{"name":"a"},)"
                              R"({"name":"b","onFlavors":[]}]}})";

std::string checks_of(const boost::json::object& queue) {
  std::string out;
  for (const char* field : {"admissionChecks", "admissionChecksStrategy"})
    if (const auto* value = queue.at("spec").as_object().if_contains(field))
      out += std::string(field) + "=" + boost::json::serialize(*value);
  return out;
}

// kubectl compares a manifest with what it is shown: so each is shown as it was written.
TEST(CheckList, IsShownAsItWasWritten) {
  const auto hub = to_hub(kueue("ClusterQueue", kList, "v1beta1"));
  EXPECT_EQ(checks_of(hub), R"(admissionChecksStrategy={"admissionChecks":[{"name":"a"},)"
                            R"({"name":"b"}]})");
  EXPECT_EQ(checks_of(to_v1beta1(hub)), R"(admissionChecks=["a","b"])");
  for (const char* version : {"v1beta1", "v1beta2"}) {
    const auto other = to_hub(kueue("ClusterQueue", kStrategy, version));
    EXPECT_EQ(checks_of(to_v1beta1(other)),
              R"(admissionChecksStrategy={"admissionChecks":[{"name":"a"},{"name":"b"}]})");
  }
}

// What was made in v1beta2 has a strategy, to which an apply of the list adds the list.
TEST(CheckList, ListAndStrategyThatSayTheSameAreTheList) {
  const auto hub = to_hub(kueue("ClusterQueue", kBoth, "v1beta1"));
  const auto back = to_v1beta1(hub);
  EXPECT_EQ(checks_of(back), R"(admissionChecks=["b","a"])");
  EXPECT_EQ(to_hub(back).at("spec").at("admissionChecksStrategy").at("admissionChecks").at(0),
            boost::json::parse(R"({"name":"b"})"));
}

// A check is added or gets a flavor in v1beta2: the list says less than what is true.
TEST(CheckList, GivesWayToAStrategyThatBecameAnother) {
  for (const char* checks :
       {R"([{"name":"a"},{"name":"b"},{"name":"c"}])",
        R"([{"name":"a"},{"name":"b","onFlavors":["f"]}])", R"([{"name":"a"}])"}) {
    auto hub = to_hub(kueue("ClusterQueue", kList, "v1beta1"));
    hub["spec"].as_object()["admissionChecksStrategy"].as_object()["admissionChecks"] =
        boost::json::parse(checks);
    EXPECT_EQ(checks_of(to_v1beta1(hub)),
              R"(admissionChecksStrategy={"admissionChecks":)" + std::string(checks) + "}");
  }
}

// The list goes with its line, and leaves nothing behind.
TEST(CheckList, GoesWithItsLine) {
  auto shown = to_v1beta1(to_hub(kueue("ClusterQueue", kList, "v1beta1")));
  shown["spec"].as_object().erase("admissionChecks");
  const auto hub = to_hub(shown);
  EXPECT_EQ(checks_of(hub), "");
  EXPECT_EQ(checks_of(to_v1beta1(hub)), "");
  EXPECT_FALSE(hub.at("metadata").as_object().contains("annotations"));
}

// A list of checks beside a strategy was dropped without a word.
TEST(B17ListAndStrategy, OnlyOneOfTheTwo) {
  const auto errors = [](const std::string& kind, const std::string& spec) {
    auto input = kueue(kind, spec, "v1beta1");
    return testing::lines(core_scheme().admit(input).errors);
  };
  const std::string strategy = R"("admissionChecksStrategy":{"admissionChecks":[{"name":"b"}]})";
  EXPECT_EQ(errors("ClusterQueue", R"({"admissionChecks":["a"],)" + strategy + "}"),
            (std::vector<std::string>{R"(spec: Invalid value: "object": either admissionChecks or )"
                                      R"(admissionChecksStrategy can be set, but not both)"}));
  EXPECT_EQ(errors("ClusterQueue", R"({"admissionChecks":[],)" + strategy + "}"),
            std::vector<std::string>());
  EXPECT_EQ(errors("AdmissionCheck", R"({"controllerName":"a/b","retryDelayMinutes":-1})"),
            (std::vector<std::string>{
                "spec.retryDelayMinutes: Invalid value: -1: spec.retryDelayMinutes in body should "
                "be greater than or equal to 0"}));
}

TEST(Conversion, WorkloadPriorityClasses) {
  const std::string pods = testing::pod_sets();
  const auto hub = to_hub(kueue("Workload",
                                R"({"priority":5,"priorityClassName":"high",
        "priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass",)" +
                                    pods + "}",
                                "v1beta1"));
  EXPECT_EQ(hub.at("spec").at("priorityClassRef"),
            boost::json::parse(
                R"({"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"})"));
  const auto back = to_v1beta1(hub);
  EXPECT_EQ(back.at("spec").at("priorityClassName"), "high");
  EXPECT_EQ(back.at("spec").at("priorityClassSource"), "kueue.x-k8s.io/workloadpriorityclass");
  EXPECT_FALSE(back.at("spec").as_object().contains("priorityClassRef"));
  EXPECT_EQ(to_hub(back), hub);
}

TEST(Conversion, WorkloadStatus) {
  auto old = kueue("Workload", "{" + testing::pod_sets(R"("count":3)") + "}", "v1beta1");
  old["status"] = object(R"({"accumulatedPastExexcutionTimeSeconds":9,
    "admission":{"clusterQueue":"c","podSetAssignments":[{"name":"main","count":3,
      "topologyAssignment":{"levels":["block","host"],"domains":[
        {"values":["b","h1"],"count":1},{"values":["b","h2"],"count":2}]}}]}})");
  const auto hub = to_hub(old);
  EXPECT_EQ(hub.at("status").at("accumulatedPastExecutionTimeSeconds"), 9);
  const auto& assignment = hub.at("status").at("admission").at("podSetAssignments").as_array()[0];
  EXPECT_EQ(assignment.at("topologyAssignment"), boost::json::parse(R"({
    "levels":["block","host"],"slices":[{"domainCount":2,"podCounts":{"individual":[1,2]},
      "valuesPerLevel":[{"universal":"b"},{"individual":{"roots":["h1","h2"]}}]}]})"));
  EXPECT_EQ(to_v1beta1(hub).at("status"), old.at("status"));
}

TEST(Conversion, WhatAVersionCannotSayTravelsInAnAnnotation) {
  // Only v1beta1 has retryDelayMinutes; 15 is its default.
  const auto hub =
      to_hub(kueue("AdmissionCheck", R"({"controllerName":"c","retryDelayMinutes":3})", "v1beta1"));
  EXPECT_FALSE(hub.at("spec").as_object().contains("retryDelayMinutes"));
  EXPECT_EQ(hub.at("metadata").at("annotations").at("sluice.dev/v1beta1-fields"),
            R"({"spec.retryDelayMinutes":3})");
  const auto back = to_v1beta1(hub);
  EXPECT_EQ(back.at("spec").at("retryDelayMinutes"), 3);
  EXPECT_FALSE(back.at("metadata").as_object().contains("annotations"));

  // Only v1beta2 has preemption gates.
  const auto gated = to_hub(
      kueue("Workload", R"({"preemptionGates":[{"name":"g"}],)" + testing::pod_sets() + "}"));
  const auto old = to_v1beta1(gated);
  EXPECT_FALSE(old.at("spec").as_object().contains("preemptionGates"));
  EXPECT_EQ(to_hub(old), gated);
}

TEST(Conversion, AnAnnotationCannotBringInWhatIsInvalid) {
  auto old = kueue("Workload", "{" + testing::pod_sets() + "}", "v1beta1");
  old["metadata"].as_object()["annotations"] =
      object(R"({"sluice.dev/v1beta2-fields":"{\"spec.preemptionGates\":7}"})");
  EXPECT_FALSE(core_scheme().admit(old).ok());
  auto garbage = kueue("Workload", "{" + testing::pod_sets() + "}", "v1beta1");
  garbage["metadata"].as_object()["annotations"] =
      object(R"({"sluice.dev/v1beta2-fields":"{\"spec[9999].x[\":7,\"a.b.c\":1,\"\":2}"})");
  EXPECT_TRUE(core_scheme().admit(garbage).ok());
}

// Else whoever may create a workload could say in it that it is admitted.
TEST(Conversion, AnAnnotationCannotBringInWhatTheObjectItselfSays) {
  const char* const refused[] = {
      R"({"status":{"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main"}]}}})",
      R"({"status.admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main"}]}})",
      R"({"status.conditions":[]})",
      R"({"status.accumulatedPastExecutionTimeSeconds":-9})",
      R"({"spec":{"active":false}})",
      R"({"spec.active":false})",
      R"({"metadata.uid":"u"})",
      R"({"metadata.ownerReferences":[]})",
      R"({"metadata.finalizers":["a/b"]})",
      R"({"metadata.labels":{"a":"b"}})",
      R"({"metadata":{"labels":{"a":"b"}}})",
      R"({"spec.podSets[0].template.spec.nodeSelector":{"a":"b"}})",
      R"({"spec.podSets[0].template.metadata.annotations.a":"b"})",
      R"({"kind":"Pod"})",
  };
  for (const char* const text : refused) {
    auto plain = kueue("Workload", "{" + testing::pod_sets() + "}", "v1beta1");
    plain["status"] = object(R"({"requeueState":{"count":1}})");
    auto tried = plain;
    tried["metadata"].as_object()["annotations"] =
        boost::json::object{{"sluice.dev/v1beta2-fields", text}};
    EXPECT_EQ(to_hub(tried), to_hub(plain)) << text;
  }
}

// An API server has looked at the status of what it wants converted, and does not look again.
TEST(Conversion, WhoStoresWhatIsConvertedGetsNoStatusFromAnAnnotation) {
  auto old = kueue("Workload", "{" + testing::pod_sets() + "}", "v1beta1");
  old["status"] = object(R"({"requeueState":{"count":1}})");
  const char* const fields = R"({"status.preemptionGates":[],"spec.preemptionGates":[]})";
  old["metadata"].as_object()["annotations"] =
      boost::json::object{{"sluice.dev/v1beta2-fields", fields}};
  auto stored = old;
  ASSERT_TRUE(core_scheme().convert(stored, "v1beta2"));
  EXPECT_FALSE(stored.at("status").as_object().contains("preemptionGates"));
  EXPECT_TRUE(stored.at("spec").as_object().contains("preemptionGates"));
  EXPECT_TRUE(to_hub(old).at("status").as_object().contains("preemptionGates"));
}

TEST(Conversion, PathsAreThoseOfTheVersionWritten) {
  auto queue = kueue("ClusterQueue", R"({"cohort":"A","cohortName":"b"})", "v1beta1");
  const Outcome outcome = core_scheme().admit(queue);
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.errors[0].field, "spec.cohort");
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].text(), R"(unknown field "spec.cohortName")");
}

TEST(Conversion, RefusesVersionsThatDoNotExist) {
  auto hub = to_hub(kueue("Cohort", "{}"));
  EXPECT_EQ(core_scheme().to_version(hub, "v9").error().text, "Cohort has no version v9");
  auto old = kueue("Cohort", "{}", "v1beta1");
  EXPECT_FALSE(core_scheme().to_version(old, "v1beta2").ok());
}

}  // namespace
}  // namespace sluice::api
