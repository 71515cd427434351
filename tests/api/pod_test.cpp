// How pods are read: what they ask of quota, where they may run, what makes their shape.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/codec/codec.hpp"
#include "core/types/pod.hpp"

namespace sluice::api {
namespace {

PodTemplate pod(const char* text) {
  return decode_pod_template(boost::json::parse(text).as_object());
}

std::string requests_text(const PodTemplate& pod) {
  std::string out;
  for (const auto& each : pod.requests) {
    out += each.resource + "=" + std::to_string(each.amount) + " ";
  }
  return out;
}

TEST(PodRequests, AsKubernetesAddsThemUp) {
  struct Case {
    const char* what;
    const char* spec;
    const char* requests;
  };
  for (const Case& each : {
           Case{"nothing", R"({})", ""},
           Case{"sum of containers, milli for cpu, base units rounded up else",
                R"({"containers":[{"resources":{"requests":{"cpu":"100m","memory":"1Ki"}}},
                  {"resources":{"requests":{"cpu":1,"memory":"500m","example.com/gpu":"2"}}}]})",
                "cpu=1100 example.com/gpu=2 memory=1025 "},
           // 0.1m + 0.1m = 0.2m, rounded up once at the end.
           Case{"rounds the sum, not the parts",
                R"({"containers":[{"resources":{"requests":{"cpu":"100u"}}},
                  {"resources":{"requests":{"cpu":"100u"}}}]})",
                "cpu=1 "},
           Case{"a limit stands in for a missing request",
                R"({"containers":[{"resources":{"requests":{"cpu":"1"},
                   "limits":{"cpu":"2","memory":"5"}}}]})",
                "cpu=1000 memory=5 "},
           // max(1 + 1, 3, 1) = 3 for cpu; memory only in the init container.
           Case{"init containers run one at a time",
                R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},
                                  {"resources":{"requests":{"cpu":"1"}}}],
                   "initContainers":[{"resources":{"requests":{"cpu":"3"}}},
                                     {"resources":{"requests":{"cpu":"1","memory":"7"}}}]})",
                "cpu=3000 memory=7 "},
           // Containers 1 and sidecar 2 run together: 3. The init container 2 beside it: 4.
           Case{"a sidecar stays, and runs beside later init containers",
                R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
                   "initContainers":[
                     {"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
                     {"resources":{"requests":{"cpu":"2"}}}]})",
                "cpu=4000 "},
           // The init container comes first: max(3, 1 + 2) = 3.
           Case{"an init container before the sidecar runs alone",
                R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
                   "initContainers":[
                     {"resources":{"requests":{"cpu":"3"}}},
                     {"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}]})",
                "cpu=3000 "},
           Case{"overhead on top",
                R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
                   "overhead":{"cpu":"250m","memory":"1"}})",
                "cpu=1250 memory=1 "},
           Case{"figures of the pod replace those of its containers, for cpu and memory",
                R"({"containers":[{"resources":{"requests":{"cpu":"1","gpu":"1"}}}],
                   "resources":{"requests":{"cpu":"5","gpu":"9"},"limits":{"memory":"6"}}})",
                "cpu=5000 gpu=1 memory=6 "},
       }) {
    EXPECT_EQ(requests_text(pod((R"({"spec":)" + std::string(each.spec) + "}").c_str())),
              each.requests)
        << each.what;
  }
}

TEST(PodRequests, AboveTheLimitAreInvalid) {
  const PodTemplate bad = pod(R"({"spec":{"containers":[{},)"
                              R"({"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}})");
  EXPECT_EQ(bad.invalid_resources,
            "resources validation failed: spec.containers[1].resources.requests: Invalid value: "
            "\"2\": must be less than or equal to cpu limit of 1");
  const PodTemplate good = pod(
      R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}})");
  EXPECT_EQ(good.invalid_resources, "");
}

TEST(PodTemplate, ReadsWhereItMayRun) {
  const PodTemplate decoded = pod(R"({"metadata":{"annotations":{"a":"b"}},"spec":{
    "nodeSelector":{"zone":"a"},
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
      "nodeSelectorTerms":[
        {"matchExpressions":[{"key":"cores","operator":"Gt","values":["8"]}]},
        {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}},
    "tolerations":[{"key":"spot","operator":"Exists","effect":"NoExecute",
                    "tolerationSeconds":5}]}})");
  EXPECT_EQ(*decoded.node_selector.find("zone"), "a");
  EXPECT_EQ(*decoded.annotations.find("a"), "b");
  ASSERT_TRUE(decoded.required_affinity.has_value());
  ASSERT_EQ(decoded.required_affinity->size(), 2u);
  const auto& first = (*decoded.required_affinity)[0];
  ASSERT_EQ(first.expressions.size(), 1u);
  EXPECT_EQ(first.expressions[0].op, NodeSelectorRequirement::Operator::kGt);
  EXPECT_FALSE(first.has_fields);
  EXPECT_TRUE((*decoded.required_affinity)[1].has_fields);
  ASSERT_EQ(decoded.tolerations.size(), 1u);
  EXPECT_EQ(decoded.tolerations[0].op, Toleration::Operator::kExists);
  EXPECT_EQ(decoded.tolerations[0].effect, TaintEffect::kNoExecute);
  EXPECT_EQ(decoded.tolerations[0].seconds, 5);
}

TEST(PodTemplate, ShapeIsEqualExactlyForEqualNeeds) {
  const auto shape = [](const char* spec) {
    return pod((R"({"spec":)" + std::string(spec) + "}").c_str()).shape;
  };
  const std::string one = shape(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})");
  EXPECT_EQ(one,
            shape(R"({"containers":[{"image":"x","resources":{"requests":{"cpu":"1000m"}}}]})"));
  EXPECT_NE(one, shape(R"({"containers":[{"resources":{"requests":{"cpu":"2"}}}]})"));
  EXPECT_NE(one, shape(R"({"nodeSelector":{"a":"b"},
                           "containers":[{"resources":{"requests":{"cpu":"1"}}}]})"));
  EXPECT_NE(one, shape(R"({"tolerations":[{"operator":"Exists"}],
                           "containers":[{"resources":{"requests":{"cpu":"1"}}}]})"));
  EXPECT_EQ(shape(R"({"affinity":{"nodeAffinity":{},"podAffinity":{}}})"),
            shape(R"({"affinity":{"podAffinity":{},"nodeAffinity":{}}})"));
}

}  // namespace
}  // namespace sluice::api
