// What is wrong with an object, in the words of Kubernetes: all of it at once.
#include <gmock/gmock.h>

#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

using testing::condition;
using testing::core_scheme;
using testing::kueue;
using testing::object;
using testing::pod_sets;

struct Case {
  std::string what;
  std::string kind;
  std::string spec;
  std::vector<std::string> errors;
};

void expect(const Case& each) {
  auto input = kueue(each.kind, each.spec);
  EXPECT_EQ(testing::lines(core_scheme().admit(input).errors), each.errors) << each.what;
}

/// One group that covers `covered` with one flavor `f` of the given quotas.
std::string group(const std::string& covered, const std::string& quotas,
                  const std::string& flavor = "f") {
  return R"({"coveredResources":[)" + covered + R"(],"flavors":[{"name":")" + flavor +
         R"(","resources":[)" + quotas + "]}]}";
}

std::string cpu(const std::string& more = "", const std::string& nominal = "\"1\"") {
  return R"({"name":"cpu","nominalQuota":)" + nominal + more + "}";
}

TEST(Validation, TypesAndLimits) {
  for (const Case& each : {
           Case{"a text for a number",
                "Workload",
                "{" + pod_sets(R"("count":"3")") + "}",
                {R"(spec.podSets[0].count: Invalid value: "3": spec.podSets[0].count in body )"
                 R"(must be of type integer: "string")"}},
           Case{"below the minimum",
                "Workload",
                "{" + pod_sets(R"("count":-1)") + "}",
                {"spec.podSets[0].count: Invalid value: -1: spec.podSets[0].count in body should "
                 "be greater than or equal to 0"}},
           Case{"beyond int32",
                "Workload",
                "{" + pod_sets(R"("count":2147483648)") + "}",
                {"spec.podSets[0].count: Invalid value: 2147483648: spec.podSets[0].count in body "
                 "should be less than or equal to 2147483647"}},
           Case{"a fraction",
                "Workload",
                "{" + pod_sets(R"("count":1.5)") + "}",
                {R"(spec.podSets[0].count: Invalid value: 1.5: spec.podSets[0].count in body )"
                 R"(must be of type integer: "number")"}},
           Case{"an object for a list",
                "Workload",
                R"({"podSets":{}})",
                {R"(spec.podSets: Invalid value: {}: spec.podSets in body must be of type )"
                 R"(array: "object")"}},
           Case{"missing",
                "Workload",
                R"({"podSets":[{"count":1}]})",
                {"spec.podSets[0].template: Required value"}},
           Case{"too few",
                "Workload",
                R"({"podSets":[]})",
                {"spec.podSets: Invalid value: 0: spec.podSets in body should have at least 1 "
                 "items"}},
           Case{"the same name twice",
                "Workload",
                R"({"podSets":[{"template":{"spec":{"containers":[]}}},
                               {"name":"main","template":{"spec":{"containers":[]}}}]})",
                {R"(spec.podSets[1]: Duplicate value: {"name":"main"})"}},
           Case{"not one of",
                "ClusterQueue",
                R"({"queueingStrategy":"LIFO"})",
                {R"(spec.queueingStrategy: Unsupported value: "LIFO": supported values: )"
                 R"("StrictFIFO", "BestEffortFIFO")"}},
           Case{"a name with capitals",
                "LocalQueue",
                R"({"clusterQueue":"CQ"})",
                {R"(spec.clusterQueue: Invalid value: "CQ": spec.clusterQueue in body should )"
                 R"(match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')"}},
           Case{"a name that is too long",
                "LocalQueue",
                R"({"clusterQueue":")" + std::string(254, 'a') + "\"}",
                {"spec.clusterQueue: Too long: may not be more than 253 bytes"}},
           Case{"several at once",
                "ClusterQueue",
                R"({"stopPolicy":"Stop","cohortName":"-"})",
                {R"(spec.stopPolicy: Unsupported value: "Stop": supported values: "None", )"
                 R"("Hold", "HoldAndDrain")",
                 R"(spec.cohortName: Invalid value: "-": spec.cohortName in body should match )"
                 R"('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')"}},
       }) {
    expect(each);
  }
}

TEST(Validation, TooMany) {
  std::string groups = group("\"r0\"", R"({"name":"r0","nominalQuota":1})", "f0");
  for (int i = 1; i < 20; ++i) {
    const std::string n = std::to_string(i);
    groups +=
        "," + group("\"r" + n + "\"", R"({"name":"r)" + n + R"(","nominalQuota":1})", "f" + n);
  }
  expect({"groups",
          "ClusterQueue",
          R"({"resourceGroups":[)" + groups + "]}",
          {"spec.resourceGroups: Too many: 20: must have at most 16 items"}});
  expect({"labels",
          "ResourceFlavor",
          R"({"nodeLabels":{"a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":"","i":""}})",
          {"spec.nodeLabels: Too many: 9: must have at most 8 items"}});
}

TEST(Validation, Quotas) {
  const std::string at = "spec.resourceGroups[0].flavors[0].resources[0].";
  const auto queue = [](const std::string& groups, const std::string& cohort = "all") {
    return R"({"cohortName":")" + cohort + R"(","resourceGroups":[)" + groups + "]}";
  };
  for (const Case& each : {
           Case{"good",
                "ClusterQueue",
                queue(group("\"cpu\"", cpu(R"(,"borrowingLimit":"0","lendingLimit":1)"))),
                {}},
           Case{
               "negative",
               "ClusterQueue",
               queue(group("\"cpu\"", cpu(R"(,"borrowingLimit":"-1")"))),
               {at + R"(borrowingLimit: Invalid value: "-1": must be greater than or equal to 0)"}},
           Case{"malformed",
                "ClusterQueue",
                queue(group("\"cpu\"", cpu("", "\"1x\""))),
                {at + R"(nominalQuota: Invalid value: "1x": quantities must match the regular )"
                      R"(expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$')"}},
           Case{"out of range",
                "ClusterQueue",
                queue(group("\"cpu\"", cpu("", "\"1e30\""))),
                {at + R"(nominalQuota: Invalid value: "1e30": out of range, the magnitude must be )"
                      R"(less than or equal to 9223372036854775807)"}},
           // cpu is counted in milli: 2^63 - 1 of them are 9223372036854775807m.
           Case{"out of range in milli",
                "ClusterQueue",
                queue(group("\"cpu\"", cpu("", "\"9223372036854775808m\""))),
                {at +
                 R"(nominalQuota: Invalid value: "9223372036854775808m": out of range, must be )"
                 R"(less than or equal to 9223372036854775807m)"}},
           Case{"lends more than it has",
                "ClusterQueue",
                queue(group("\"cpu\"", cpu(R"(,"lendingLimit":"2")"))),
                {at + R"(lendingLimit: Invalid value: "2": must be less than or equal to the )"
                      R"(nominalQuota, 1)"}},
           Case{"lends without a cohort",
                "ClusterQueue",
                queue(group("\"cpu\"", cpu(R"(,"lendingLimit":"1")")), ""),
                {R"(spec.cohortName: Invalid value: "": spec.cohortName in body should match )"
                 R"('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
                 at + R"(lendingLimit: Invalid value: "1": must be nil when cohort is empty)"}},
           Case{"borrows without a cohort",
                "ClusterQueue",
                R"({"resourceGroups":[)" + group("\"cpu\"", cpu(R"(,"borrowingLimit":"1")")) + "]}",
                {R"(spec: Invalid value: "object": )"
                 R"(borrowingLimit must be nil when cohort is empty)"}},
           Case{"a cohort without parent",
                "Cohort",
                R"({"resourceGroups":[)" + group("\"cpu\"", cpu(R"(,"borrowingLimit":"1")")) + "]}",
                {at + R"(borrowingLimit: Invalid value: "1": must be nil when parent is empty)"}},
       }) {
    expect(each);
  }
}

TEST(Validation, GroupsAndPolicies) {
  const std::string at = "spec.resourceGroups[0].flavors[0].resources[0].";
  const auto queue = [](const std::string& groups) {
    return R"({"cohortName":"all","resourceGroups":[)" + groups + "]}";
  };
  for (const Case& each : {
           Case{"a resource that is not covered",
                "ClusterQueue",
                queue(group("\"cpu\",\"memory\"", cpu())),
                {R"(spec.resourceGroups[0]: Invalid value: "object": flavors must have the same )"
                 R"(number of resources as the coveredResources)"}},
           Case{
               "in another order",
               "ClusterQueue",
               queue(group("\"memory\",\"cpu\"", cpu() + R"(,{"name":"memory","nominalQuota":1})")),
               {at + R"(name: Invalid value: "cpu": must match the name in coveredResources, )"
                     R"(memory at this position)",
                R"(spec.resourceGroups[0].flavors[0].resources[1].name: Invalid value: )"
                R"("memory": must match the name in coveredResources, cpu at this position)"}},
           Case{"in two groups",
                "ClusterQueue",
                queue(group("\"cpu\"", cpu()) + "," + group("\"cpu\"", cpu())),
                {R"(spec.resourceGroups[1].coveredResources[0]: Duplicate value: "cpu")",
                 R"(spec.resourceGroups[1].flavors[0].name: Duplicate value: "f")"}},
           Case{"a check on a flavor of no group",
                "ClusterQueue",
                R"({"admissionChecksStrategy":{"admissionChecks":[{"name":"c","onFlavors":["g"]}]},
                    "resourceGroups":[)" +
                    group("\"cpu\"", cpu()) + "]}",
                {R"(spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]: Invalid )"
                 R"(value: "g": must be a flavor of this ClusterQueue)"}},
           Case{"a negative weight",
                "Cohort",
                R"({"fairSharing":{"weight":"-1"}})",
                {R"(spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal )"
                 R"(to 0)"}},
           Case{"a weight that no share can be divided by",
                "ClusterQueue",
                R"({"fairSharing":{"weight":"1n"}})",
                {R"(spec.fairSharing.weight: Invalid value: "1n": must be 0, or greater than 1n)"}},
           Case{"a weight just above", "Cohort", R"({"fairSharing":{"weight":"2n"}})", {}},
           Case{"borrowing in vain",
                "ClusterQueue",
                R"({"preemption":{"borrowWithinCohort":{"policy":"LowerPriority"}}})",
                {R"(spec.preemption: Invalid value: "object": reclaimWithinCohort=Never and )"
                 R"(borrowWithinCohort.Policy!=Never)"}},
           Case{"a selector without values",
                "ClusterQueue",
                R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}})",
                {R"(spec.namespaceSelector.matchExpressions[0]: Invalid value: "object": values )"
                 R"(must be specified when `operator` is 'In' or 'NotIn')"}},
       }) {
    expect(each);
  }
}

TEST(Validation, Flavors) {
  for (const Case& each : {
           Case{
               "the same taint twice",
               "ResourceFlavor",
               R"({"nodeTaints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoExecute"},
                                  {"key":"a","value":"x","effect":"NoSchedule"}]})",
               {R"(spec.nodeTaints[2]: Duplicate value: )"
                R"({"key":"a","value":"x","effect":"NoSchedule"}: taints must be unique by key )"
                R"(and effect)"}},
           Case{"an effect that is none",
                "ResourceFlavor",
                R"({"nodeTaints":[{"key":"a","effect":"Never"}]})",
                {R"(spec.nodeTaints: Invalid value: "array": supported taint effect values: )"
                 R"('NoSchedule', 'PreferNoSchedule', 'NoExecute')"}},
           Case{"a toleration of everything needs Exists",
                "ResourceFlavor",
                R"({"tolerations":[{"operator":"Equal","value":"x"}]})",
                {R"(spec.tolerations: Invalid value: "array": operator must be Exists when )"
                 R"('key' is empty, which means 'match all values and all keys')"}},
           Case{"Exists has no value",
                "ResourceFlavor",
                R"({"tolerations":[{"key":"a","operator":"Exists","value":"x"}]})",
                {R"(spec.tolerations: Invalid value: "array": a value must be empty when )"
                 R"('operator' is 'Exists')"}},
           Case{"topology without labels",
                "ResourceFlavor",
                R"({"topologyName":"t"})",
                {R"(spec: Invalid value: "object": at least one nodeLabel is required when )"
                 R"(topology is set)"}},
       }) {
    expect(each);
  }
}

/// Of pods as wholes: what is negative would be taken from what their containers are counted with.
TEST(Validation, AmountsOfPods) {
  const auto workload = [](const std::string& more) {
    return R"({"podSets":[{"name":"main","count":1,"template":{"spec":{)" + more +
           R"(,"containers":[{"name":"c","image":"i"}]}}}]})";
  };
  const std::string at = "spec.podSets[0].template.spec.";
  const std::string rule = R"([cpu]: Invalid value: "-1": must be greater than or equal to 0)";
  for (const Case& each : {
           Case{"requests",
                "Workload",
                workload(R"("resources":{"requests":{"cpu":"-1"}})"),
                {at + "resources.requests" + rule}},
           Case{"limits",
                "Workload",
                workload(R"("resources":{"limits":{"cpu":"-1"}})"),
                {at + "resources.limits" + rule}},
           Case{"overhead",
                "Workload",
                workload(R"("overhead":{"cpu":"-1"})"),
                {at + "overhead" + rule}},
           Case{"all of it",
                "Workload",
                workload(R"("overhead":{"cpu":"1"},"resources":{"requests":{"cpu":"2"}})"),
                {}},
       })
    expect(each);
}

TEST(Validation, Workloads) {
  const auto requests = [](const std::string& list) {
    return "{" + pod_sets(R"("count":1)", R"(,"resources":{"requests":{)" + list + "}}") + "}";
  };
  const std::string at = "spec.podSets[0].template.spec.containers[0].resources.requests";
  for (const Case& each : {
           Case{
               "good", "Workload", requests(R"("cpu":1,"memory":"1Gi","example.com/gpu":"2")"), {}},
           Case{"negative",
                "Workload",
                requests(R"("cpu":"-1")"),
                {at + R"([cpu]: Invalid value: "-1": must be greater than or equal to 0)"}},
           Case{"malformed",
                "Workload",
                requests(R"("memory":"lots")"),
                {at + R"([memory]: Invalid value: "lots": quantities must match the regular )"
                      R"(expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$')"}},
           Case{
               "out of range",
               "Workload",
               requests(R"("memory":"99999999E")"),
               {at + R"([memory]: Invalid value: "99999999E": out of range, the magnitude must be )"
                     R"(less than or equal to 9223372036854775807)"}},
           Case{"B18: above what is counted",
                "Workload",
                requests(R"("cpu":"9223372036854776")"),
                {}},
           Case{"pods",
                "Workload",
                requests(R"("pods":1)"),
                {at + R"([pods]: Invalid value: "pods": the name is reserved, pods are counted )"
                      R"(without it)"}},
           Case{"minCount above count",
                "Workload",
                "{" + pod_sets(R"("count":1,"minCount":2)") + "}",
                {R"(spec.podSets[0]: Invalid value: "object": minCount should be positive and )"
                 R"(less or equal to count)"}},
           Case{"two with minCount",
                "Workload",
                R"({"podSets":[{"name":"a","minCount":1,"template":{"spec":{"containers":[]}}},
                               {"name":"b","minCount":1,"template":{"spec":{"containers":[]}}}]})",
                {"spec.podSets: Invalid value: 2: at most one podSet can use minCount"}},
           Case{"a class without priority",
                "Workload",
                R"({"priorityClassRef":{"group":"kueue.x-k8s.io",)"
                R"("kind":"WorkloadPriorityClass","name":"p"},)" +
                    pod_sets() + "}",
                {R"(spec: Invalid value: "object": priority should not be nil when )"
                 R"(priorityClassRef is set)"}},
           Case{"a class of the wrong kind",
                "Workload",
                R"({"priority":1,"priorityClassRef":{"group":"kueue.x-k8s.io",)"
                R"("kind":"PriorityClass","name":"p"},)" +
                    pod_sets() + "}",
                {R"(spec.priorityClassRef: Invalid value: "object": only the )"
                 R"(WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group)"}},
       }) {
    expect(each);
  }
}

std::vector<std::string> status_errors(const std::string& status) {
  auto workload = kueue("Workload", "{" + pod_sets(R"("count":2)") + "}");
  workload["status"] = object(status);
  return testing::lines(core_scheme().admit(workload).errors);
}

TEST(Validation, Status) {
  using ::testing::ElementsAre;
  EXPECT_THAT(status_errors(R"({"conditions":[)" + condition("QuotaReserved") + "]}"),
              ElementsAre("status.admission: Required value: must be set while the condition "
                          "QuotaReserved is True"));
  EXPECT_THAT(status_errors(R"({"admission":{"clusterQueue":"c","podSetAssignments":[
        {"name":"main","count":2,"resourceUsage":{"cpu":"3"}}]}})"),
              ElementsAre());  // 3000 milli are a multiple of 2
  EXPECT_THAT(
      status_errors(R"({"admission":{"clusterQueue":"c","podSetAssignments":[
        {"name":"other","count":2,"resourceUsage":{"memory":"3"}}]}})"),
      ElementsAre(
          R"(status.admission.podSetAssignments[0].name: Unsupported value: "other": )"
          R"(supported values: "main")",
          R"(status.admission.podSetAssignments[0].resourceUsage[memory]: Invalid value: "3": )"
          R"(is not a multiple of the count, 2)"));
  EXPECT_THAT(
      status_errors(R"({"reclaimablePods":[{"name":"main","count":3}]})"),
      ElementsAre(
          "status.reclaimablePods[0].count: Invalid value: 3: should be less than or equal to 2"));
}

TEST(Validation, Metadata) {
  const auto errors = [](const std::string& metadata) {
    auto input = object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":)" +
                        metadata + "}");
    return core_scheme().admit(input).error_text();
  };
  EXPECT_EQ(errors(R"({"name":"a.b-c","labels":{"example.com/a":"B_c"}})"), "");
  EXPECT_EQ(errors("{}"), "metadata.name: Required value: name or generateName is required");
  EXPECT_EQ(errors(R"({"name":"a","namespace":"n"})"),
            "metadata.namespace: Forbidden: not allowed on this type");
  EXPECT_THAT(errors(R"({"name":"A"})"),
              ::testing::StartsWith(R"(metadata.name: Invalid value: "A": a lowercase RFC 1123 )"));
  EXPECT_THAT(errors(R"({"name":"a","labels":{"a b":"-"}})"),
              ::testing::AllOf(::testing::HasSubstr(R"(metadata.labels: Invalid value: "a b": )"),
                               ::testing::HasSubstr(R"(metadata.labels: Invalid value: "-": )")));
}

TEST(Validation, OwnersNameTheirObjectsAndOneControls) {
  const auto errors = [](const std::string& owners) {
    auto input = object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":)"
                        R"({"name":"a","ownerReferences":[)" +
                        owners + "]}}");
    return testing::lines(core_scheme().admit(input).errors);
  };
  const auto owner = [](const std::string& name, const std::string& more) {
    return R"({"apiVersion":"batch/v1","kind":"Job","name":")" + name + R"(","uid":"u")" + more +
           "}";
  };
  const std::string controls = R"(,"controller":true)";
  EXPECT_THAT(errors(owner("x", controls) + "," + owner("y", R"(,"controller":false)")),
              ::testing::IsEmpty());
  EXPECT_THAT(errors(owner("x", controls) + "," + owner("y", controls)),
              ::testing::ElementsAre(::testing::AllOf(
                  ::testing::StartsWith("metadata.ownerReferences: Invalid value: "),
                  ::testing::HasSubstr("Only one reference can have Controller set to true. Found "
                                       "\"true\" in references for Job/x and Job/y"))));
  EXPECT_THAT(errors(owner("", "")),
              ::testing::ElementsAre(R"(metadata.ownerReferences[0].name: Invalid value: "": )"
                                     "name must not be empty"));
  // Nothing is told of the entries of too long a list: each would cost as much as all of them.
  std::string many = owner("", controls);
  for (int i = 0; i < 5000; ++i) many += "," + owner("", controls);
  EXPECT_THAT(errors(many), ::testing::ElementsAre("metadata.ownerReferences: Too many: 5001: must "
                                                   "have at most 5000 items"));
}

}  // namespace
}  // namespace sluice::api
