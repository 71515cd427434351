// Defaulting, unknown fields, and what a Scheme knows about kinds.
#include "api/scheme/scheme.hpp"

#include <gmock/gmock.h>

#include "api/schema/node.hpp"
#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

using testing::core_scheme;
using ::testing::ElementsAre;
using testing::kueue;
using testing::lines;
using testing::object;

TEST(Scheme, FillsInDefaults) {
  auto queue = kueue("ClusterQueue", R"({"fairSharing":{}})");
  ASSERT_TRUE(core_scheme().admit(queue).ok());
  EXPECT_TRUE(testing::equal(queue["spec"].as_object(), R"({
    "fairSharing":{"weight":"1"},
    "preemption":{"borrowWithinCohort":{"policy":"Never"},"reclaimWithinCohort":"Never",
                  "withinClusterQueue":"Never"},
    "queueingStrategy":"BestEffortFIFO","stopPolicy":"None"})"));

  auto workload = kueue("Workload", R"({"podSets":[{"template":{"spec":{"containers":[]}}}]})");
  ASSERT_TRUE(core_scheme().admit(workload).ok());
  EXPECT_TRUE(testing::equal(workload["spec"].as_object(), R"({"active":true,"podSets":[
    {"name":"main","count":1,"template":{"spec":{"containers":[]}}}]})"));
}

TEST(Scheme, NullIsAbsent) {
  auto workload = object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"w","namespace":"ns","creationTimestamp":null},
    "spec":{"active":null,"queueName":null,"podSets":[{"template":{"spec":{"containers":[]}}}]}})");
  const Outcome outcome = core_scheme().admit(workload);
  EXPECT_TRUE(outcome.ok()) << outcome.error_text();
  EXPECT_TRUE(workload["spec"].as_object()["active"].as_bool());
  EXPECT_FALSE(workload["spec"].as_object().contains("queueName"));
  EXPECT_FALSE(workload["metadata"].as_object().contains("creationTimestamp"));
}

TEST(Scheme, ANamespacedObjectWithoutNamespaceGoesToDefault) {
  auto queue = object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
                          "metadata":{"name":"lq"},"spec":{"clusterQueue":"cq"}})");
  ASSERT_TRUE(core_scheme().admit(queue).ok());
  EXPECT_EQ(queue["metadata"].as_object()["namespace"].as_string(), "default");
}

TEST(Scheme, UnknownFieldsAreWarnedAboutRefusedOrIgnored) {
  const std::string spec = R"({"bogus":1,"podSets":[{"x":{},"template":)"
                           R"({"spec":{"containers":[{"name":"c","imag":"x"}]}}}]})";
  const std::vector<std::string> expected = {
      R"(unknown field "spec.bogus")", R"(unknown field "spec.podSets[0].x")",
      R"(unknown field "spec.podSets[0].template.spec.containers[0].imag")"};

  auto warned = kueue("Workload", spec);
  Outcome outcome = core_scheme().admit(warned);
  EXPECT_TRUE(outcome.ok());
  EXPECT_THAT(lines(outcome.warnings), ::testing::UnorderedElementsAreArray(expected));
  EXPECT_FALSE(warned["spec"].as_object().contains("bogus"));

  auto refused = kueue("Workload", spec);
  outcome = core_scheme().admit(refused, nullptr, {.unknown_fields = UnknownFields::kRefuse});
  EXPECT_THAT(lines(outcome.errors), ::testing::UnorderedElementsAreArray(expected));
  EXPECT_TRUE(outcome.warnings.empty());

  auto ignored = kueue("Workload", spec);
  outcome = core_scheme().admit(ignored, nullptr, {.unknown_fields = UnknownFields::kIgnore});
  EXPECT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome.warnings.empty());
}

TEST(Scheme, RefusesKindsThatItDoesNotKnow) {
  auto other = object(R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"}})");
  EXPECT_THAT(lines(core_scheme().admit(other).errors),
              ElementsAre(R"(no matches for kind "Thing" in version "example.com/v1")"));
  auto none = object(R"({"metadata":{"name":"x"}})");
  EXPECT_THAT(lines(core_scheme().admit(none).errors),
              ElementsAre("apiVersion: Required value", "kind: Required value"));
}

TEST(Scheme, KnowsItsKinds) {
  const KindInfo* queue = core_scheme().find("kueue.x-k8s.io/v1beta1", "ClusterQueue");
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(queue->hub_api_version(), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(queue->plural, "clusterqueues");
  EXPECT_THAT(queue->short_names, ElementsAre("cq"));
  EXPECT_FALSE(queue->namespaced);
  EXPECT_TRUE(queue->status_subresource);
  ASSERT_EQ(queue->versions.size(), 2u);
  ASSERT_EQ(queue->versions[0].columns.size(), 7u);
  EXPECT_EQ(queue->versions[0].columns[0].json_path, ".spec.cohortName");
  EXPECT_EQ(queue->versions[0].columns[4].priority, 1);
  EXPECT_EQ(queue->versions[1].columns[0].json_path, ".spec.cohort");
  EXPECT_TRUE(queue->versions[1].deprecated);
  EXPECT_EQ(core_scheme().find_by_name("lq"), core_scheme().find_by_name("LocalQueue"));
  EXPECT_EQ(core_scheme().find_by_name("nothing"), nullptr);
  EXPECT_EQ(core_scheme().kinds().size(), 27u);
}

TEST(Scheme, ShowsItsSchema) {
  const SchemaNode* root = core_scheme().schema("kueue.x-k8s.io/v1beta2", "Workload");
  ASSERT_NE(root, nullptr);
  const SchemaField* spec = root->field("spec");
  ASSERT_NE(spec, nullptr);
  const SchemaField* active = spec->node->field("active");
  ASSERT_NE(active, nullptr);
  EXPECT_EQ(active->node->type, NodeType::kBoolean);
  EXPECT_EQ(core_scheme().schema("v1", "Workload"), nullptr);
}

}  // namespace
}  // namespace sluice::api
