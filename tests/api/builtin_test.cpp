// The built-in kinds: defaults, checks and merge rules, as tables.
#include "api/builtin/builtin.hpp"

#include <gmock/gmock.h>

#include "api/json/json.hpp"
#include "api/schema/node.hpp"
#include "tests/api/builtin_objects.hpp"

namespace sluice::api {
namespace {

using testing::admitted;
using testing::core_scheme;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::lines;
using testing::object;
using testing::of;
using testing::pod;
using testing::problems;

TEST(BuiltinKinds, AreServed) {
  struct Case {
    const char *api_version, *kind, *plural, *short_name;
    bool namespaced, status, in_all;
  };
  const Case cases[] = {
      {"batch/v1", "Job", "jobs", "", true, true, true},
      {"v1", "Pod", "pods", "po", true, true, true},
      {"v1", "Event", "events", "ev", true, false, false},
      {"v1", "Namespace", "namespaces", "ns", false, true, false},
      {"v1", "Node", "nodes", "no", false, true, false},
      {"v1", "ConfigMap", "configmaps", "cm", true, false, false},
      {"v1", "Secret", "secrets", "", true, false, false},
      {"v1", "ServiceAccount", "serviceaccounts", "sa", true, false, false},
      {"v1", "Service", "services", "svc", true, true, true},
      {"rbac.authorization.k8s.io/v1", "Role", "roles", "", true, false, false},
      {"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", "", false, false, false},
      {"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", "", true, false, false},
      {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", "", false,
       false, false},
      {"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", "pc", false, false, false},
      {"coordination.k8s.io/v1", "Lease", "leases", "", true, false, false},
      {"ray.io/v1", "RayCluster", "rayclusters", "", true, true, true},
  };
  for (const Case& each : cases) {
    const KindInfo* info = core_scheme().find(each.api_version, each.kind);
    ASSERT_NE(info, nullptr) << each.kind;
    EXPECT_EQ(info->plural, each.plural);
    EXPECT_EQ(info->namespaced, each.namespaced) << each.kind;
    EXPECT_EQ(info->status_subresource, each.status) << each.kind;
    EXPECT_EQ(info->categories == std::vector<std::string>{"all"}, each.in_all) << each.kind;
    std::vector<std::string> names;
    if (*each.short_name != '\0') names.emplace_back(each.short_name);
    EXPECT_EQ(info->short_names, names) << each.kind;
  }
  EXPECT_EQ(core_scheme().find("v1", "PersistentVolumeClaim"), nullptr);
}

TEST(BuiltinKinds, JobDefaults) {
  auto value = admitted(of("batch/v1", "Job", R"("spec":{"template":{
    "metadata":{"labels":{"app":"a"}},
    "spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"repo:5000/a"}],
            "volumes":[{"name":"v"},{"name":"s","secret":{"secretName":"x"}}]}}})"));
  EXPECT_TRUE(testing::equal(value, R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"x","namespace":"default","labels":{"app":"a"}},
    "spec":{"parallelism":1,"completions":1,"backoffLimit":6,"completionMode":"NonIndexed",
      "suspend":false,"podReplacementPolicy":"TerminatingOrFailed",
      "template":{"metadata":{"labels":{"app":"a"}},"spec":{
        "restartPolicy":"OnFailure","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
        "securityContext":{},"schedulerName":"default-scheduler",
        "containers":[{"name":"c","image":"repo:5000/a","resources":{},"imagePullPolicy":"Always",
          "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
        "volumes":[{"name":"v","emptyDir":{}},
                   {"name":"s","secret":{"secretName":"x","defaultMode":420}}]}}}})"));

  struct Case {
    const char *spec, *field, *expected;
  };
  const Case cases[] = {
      {R"("parallelism":3)", "completions", "null"},
      {R"("completions":3)", "parallelism", "1"},
      {R"("completionMode":"Indexed","completions":2,"backoffLimitPerIndex":1)", "backoffLimit",
       "2147483647"},
      {R"("podFailurePolicy":{"rules":[{"action":"FailJob",)"
       R"("onExitCodes":{"operator":"In","values":[3]}}]})",
       "podReplacementPolicy", "\"Failed\""},
  };
  for (const Case& each : cases) {
    auto defaulted = admitted(job(each.spec));
    const auto* found = find(defaulted["spec"].as_object(), each.field);
    EXPECT_EQ(found != nullptr ? boost::json::serialize(*found) : "null", each.expected)
        << each.spec;
  }
}

TEST(BuiltinKinds, ImagePullPolicyFollowsTheTag) {
  const std::pair<const char*, const char*> cases[] = {
      {"busybox", "Always"},
      {"busybox:latest", "Always"},
      {"busybox:1", "IfNotPresent"},
      {"host:5000/busybox", "Always"},
      {"a/b@sha256:0", "IfNotPresent"},
      {"host:5000/busybox:2", "IfNotPresent"},
  };
  for (const auto& [image, expected] : cases) {
    auto value = admitted(pod("", std::string(R"("image":")") + image + '"'));
    EXPECT_EQ(value["spec"].at("containers").at(0).at("imagePullPolicy").as_string(), expected)
        << image;
  }
}

TEST(BuiltinKinds, PodDefaults) {
  auto value = admitted(pod("", R"("image":"a:1","ports":[{"containerPort":80}],
    "livenessProbe":{"httpGet":{"port":80}},
    "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}})"));
  EXPECT_TRUE(testing::equal(value["spec"].as_object(), R"({
    "restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
    "securityContext":{},"schedulerName":"default-scheduler","enableServiceLinks":true,
    "containers":[{"name":"c","image":"a:1","imagePullPolicy":"IfNotPresent",
      "ports":[{"containerPort":80,"protocol":"TCP"}],
      "livenessProbe":{"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,
                       "periodSeconds":10,"successThreshold":1,"failureThreshold":3},
      "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}},
      "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}]})"));
}

TEST(BuiltinKinds, TemplatesInsideCustomResourcesAreNotDefaulted) {
  auto workload = testing::kueue("Workload", "{" + testing::pod_sets() + "}");
  ASSERT_TRUE(core_scheme().admit(workload).ok());
  EXPECT_TRUE(testing::equal(workload["spec"].at("podSets").at(0).at("template").as_object(),
                             R"({"spec":{"containers":[{"name":"c"}]}})"));
}

TEST(BuiltinKinds, OtherDefaults) {
  auto secret = admitted(of("v1", "Secret", R"("stringData":{"a":"hello","b":"x","c":""},
                                              "data":{"a":"eA==","d":"aGk="})"));
  EXPECT_TRUE(testing::equal(secret["data"].as_object(),
                             R"({"a":"aGVsbG8=","b":"eA==","c":"","d":"aGk="})"));
  EXPECT_EQ(secret["type"].as_string(), "Opaque");
  EXPECT_FALSE(secret.contains("stringData"));

  auto binding = admitted(of("rbac.authorization.k8s.io/v1", "RoleBinding",
                             R"("roleRef":{"kind":"Role","name":"r"},
                                "subjects":[{"kind":"User","name":"u"},
                                  {"kind":"ServiceAccount","name":"s","namespace":"n"}])"));
  EXPECT_EQ(binding["roleRef"].at("apiGroup").as_string(), "rbac.authorization.k8s.io");
  EXPECT_EQ(binding["subjects"].at(0).at("apiGroup").as_string(), "rbac.authorization.k8s.io");
  EXPECT_FALSE(binding["subjects"].at(1).as_object().contains("apiGroup"));

  auto service = admitted(of("v1", "Service", R"("spec":{"ports":[{"port":80}]})"));
  EXPECT_TRUE(testing::equal(service["spec"].as_object(), R"({"type":"ClusterIP",
    "sessionAffinity":"None","internalTrafficPolicy":"Cluster",
    "ports":[{"port":80,"protocol":"TCP","targetPort":80}]})"));
}

TEST(BuiltinKinds, JobMistakes) {
  struct Case {
    const char *spec, *pod, *expected;
  };
  const Case cases[] = {
      {"", R"("volumes":[{"name":"v"},{"name":"v"}])",
       R"(spec.template.spec.volumes[1].name: Duplicate value: "v")"},
      {R"("parallelism":-1)", "",
       "spec.parallelism: Invalid value: -1: spec.parallelism in body should be greater than or "
       "equal to 0"},
      {R"("completionMode":"Indexed","parallelism":2)", "",
       "spec.completions: Required value: when completionMode is Indexed"},
      {R"("completionMode":"Sometimes")", "",
       R"(spec.completionMode: Unsupported value: "Sometimes": )"
       R"(supported values: "Indexed", "NonIndexed")"},
      {R"("backoffLimitPerIndex":1)", "",
       "spec.backoffLimitPerIndex: Invalid value: 1: can only be used with completionMode Indexed"},
      {R"("successPolicy":{"rules":[{"succeededCount":1}]})", "",
       R"(spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: )"
       "can only be used with completionMode Indexed"},
      {R"("selector":{"matchLabels":{"a":"b"}})", "",
       "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template "
       "`labels`"},
      {R"("bogus":1)", "", R"(unknown field "spec.bogus")"},
      {"", R"("tolerations":[{"operator":"Equal"}])",
       R"(spec.template.spec.tolerations[0].operator: Invalid value: "Equal": operator must be )"
       R"(Exists when `key` is empty, which means "match all values and all keys")"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(problems(job(each.spec, each.pod)), ElementsAre(each.expected));
  }
  EXPECT_THAT(problems(of("batch/v1", "Job",
                          R"("spec":{"template":{"spec":{"containers":[{"name":"c"}]}}})")),
              ElementsAre(R"(spec.template.spec.restartPolicy: Unsupported value: "Always": )"
                          R"(supported values: "Never", "OnFailure")"));
  EXPECT_THAT(problems(of("batch/v1", "Job", R"("spec":{})")),
              ElementsAre("spec.template: Required value"));
}

TEST(BuiltinKinds, PodMistakes) {
  struct Case {
    const char *spec, *container, *expected;
  };
  const Case cases[] = {
      {R"("restartPolicy":"Perhaps")", R"("image":"a")",
       R"(spec.restartPolicy: Unsupported value: "Perhaps": )"
       R"(supported values: "Always", "Never", "OnFailure")"},
      {"", R"("resources":{"requests":{"cpu":2},"limits":{"cpu":"1"}})",
       "spec.containers[0].resources.requests: Invalid value: 2: must be less than or equal to cpu "
       "limit of 1"},
      {"", R"("resources":{"requests":{"c\u001bpu":"1"}})",
       R"(spec.containers[0].resources.requests: Invalid value: "c\u001bpu": )"
       R"(name part must consist of alphanumeric characters, '-', '_' or '.', and must start and )"
       R"(end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex )"
       R"(used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), with an optional )"
       R"(DNS subdomain prefix and '/' (e.g. 'example.com/MyName'))"},
      {"", R"("resources":{"limits":{"cpu":"-1"}})",
       R"(spec.containers[0].resources.limits[cpu]: Invalid value: "-1": )"
       R"(must be greater than or equal to 0)"},
      {R"("overhead":{"cpu":"-2"})", R"("image":"a")",
       R"(spec.overhead[cpu]: Invalid value: "-2": must be greater than or equal to 0)"},
      {"", R"("volumeMounts":[{"name":"v","mountPath":"/v"}])",
       R"(spec.containers[0].volumeMounts[0].name: Not found: "v")"},
      {R"("initContainers":[{"name":"c"}])", R"("image":"a")",
       R"(spec.containers[0].name: Duplicate value: "c")"},
      {R"("volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/"}}])", R"("image":"a")",
       "spec.volumes[0]: Forbidden: may not specify more than 1 volume type"},
  };
  for (const Case& each : cases) {
    const auto found = problems(pod(each.spec, each.container));
    ASSERT_FALSE(found.empty()) << each.expected;
    EXPECT_EQ(found[0], each.expected);
  }
  EXPECT_THAT(problems(of("v1", "Pod", R"("spec":{"containers":[]})")),
              ElementsAre("spec.containers: Required value"));
}

TEST(BuiltinKinds, RolesAndBindings) {
  const char* group = "rbac.authorization.k8s.io/v1";
  struct Case {
    const char *kind, *members, *expected;
  };
  const Case cases[] = {
      {"Role", R"("rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])", ""},
      {"Role", R"("rules":[{"verbs":[],"apiGroups":[""],"resources":["pods"]}])",
       "rules[0].verbs: Required value: verbs must contain at least one value"},
      {"Role", R"("rules":[{"verbs":["get"],"nonResourceURLs":["/metrics"]}])",
       R"(rules[0].nonResourceURLs: Invalid value: ["/metrics"]: )"
       R"(namespaced rules cannot apply to non-resource URLs)"},
      {"ClusterRole", R"("rules":[{"verbs":["get"],"nonResourceURLs":["/metrics"]}])", ""},
      {"ClusterRole", R"("rules":[{"verbs":["get"]}])",
       "rules[0].apiGroups: Required value: resource rules must supply at least one api group"},
      {"ClusterRoleBinding", R"("roleRef":{"kind":"Role","name":"r"})",
       R"(roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole")"},
      {"RoleBinding",
       R"("roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"s"}])",
       "subjects[0].namespace: Required value"},
  };
  for (const Case& each : cases) {
    const auto found = problems(of(group, each.kind, each.members));
    if (*each.expected == '\0') {
      EXPECT_THAT(found, IsEmpty()) << each.members;
    } else {
      ASSERT_FALSE(found.empty()) << each.members;
      EXPECT_EQ(found[0], each.expected);
    }
  }
  const auto old = admitted(of(group, "RoleBinding", R"("roleRef":{"kind":"Role","name":"r"})"));
  auto changed = old;
  changed["roleRef"].as_object()["name"] = "s";
  EXPECT_EQ(problems(changed, &old).size(), 1u);
  auto named = of(group, "ClusterRole", R"("rules":[])");
  named["metadata"].as_object()["name"] = "system:node:A";
  EXPECT_THAT(problems(named), IsEmpty());
}

TEST(BuiltinKinds, DefaultJobGivesSelectorAndLabels) {
  auto value = job("");
  default_job(value, "u-1");
  const auto once = value;
  default_job(value, "u-1");
  EXPECT_EQ(value, once);
  EXPECT_TRUE(testing::equal(value["spec"].at("selector").as_object(),
                             R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}})"));
  EXPECT_TRUE(testing::equal(
      value["spec"].at("template").at("metadata").at("labels").as_object(),
      R"({"batch.kubernetes.io/controller-uid":"u-1","batch.kubernetes.io/job-name":"x",
          "controller-uid":"u-1","job-name":"x"})"));
  EXPECT_THAT(problems(value), IsEmpty());

  auto manual = job(R"("manualSelector":true)");
  default_job(manual, "u-1");
  EXPECT_FALSE(manual["spec"].as_object().contains("selector"));
}

TEST(BuiltinKinds, InitialStatus) {
  const auto status = [](const boost::json::object& value) {
    return boost::json::serialize(initial_status("", find_text(value, "kind"), value));
  };
  EXPECT_EQ(status(pod("")), R"({"phase":"Pending","qosClass":"BestEffort"})");
  EXPECT_EQ(status(pod("", R"("resources":{"requests":{"cpu":"1"}})")),
            R"({"phase":"Pending","qosClass":"Burstable"})");
  EXPECT_EQ(status(pod("", R"("resources":{"limits":{"cpu":"1","memory":"1Gi"}})")),
            R"({"phase":"Pending","qosClass":"Guaranteed"})");
  EXPECT_EQ(status(of("v1", "Namespace", R"("spec":{})")), R"({"phase":"Active"})");
  EXPECT_TRUE(initial_status("batch", "Job", job("")).empty());
}

TEST(BuiltinKinds, MergeRules) {
  const SchemaNode* job_schema = core_scheme().schema("batch/v1", "Job");
  const SchemaNode* workload = core_scheme().schema("kueue.x-k8s.io/v1beta2", "Workload");
  struct Case {
    const SchemaNode* root;
    const char* path;
    bool merge;
    const char* key;
    std::vector<std::string> keys;
    bool set, atomic, retain_keys;
  };
  const std::string pod_path = "spec.template.spec.";
  const Case cases[] = {
      {job_schema, "metadata.ownerReferences", true, "uid", {"uid"}, false, false, false},
      {job_schema, "metadata.finalizers", true, "", {}, true, false, false},
      {job_schema, "spec.template.spec.containers", true, "name", {"name"}, false, false, false},
      {job_schema,
       "spec.template.spec.containers[].env",
       true,
       "name",
       {"name"},
       false,
       false,
       false},
      {job_schema,
       "spec.template.spec.containers[].ports",
       true,
       "containerPort",
       {"containerPort", "protocol"},
       false,
       false,
       false},
      {job_schema, "spec.template.spec.containers[].command", false, "", {}, false, false, false},
      {job_schema, "spec.template.spec.volumes", true, "name", {"name"}, false, false, true},
      {job_schema, "spec.template.spec.nodeSelector", false, "", {}, false, true, false},
      {job_schema, "spec.selector", false, "", {}, false, true, false},
      {job_schema, "status.conditions", true, "type", {"type"}, false, false, false},
      {workload, "spec.podSets", false, "", {"name"}, false, false, false},
      {workload,
       "spec.podSets[].template.spec.containers",
       true,
       "name",
       {"name"},
       false,
       false,
       false},
  };
  for (const Case& each : cases) {
    const MergeRule* rule = merge_rule(*each.root, each.path);
    ASSERT_NE(rule, nullptr) << each.path;
    EXPECT_EQ(rule->merge, each.merge) << each.path;
    EXPECT_EQ(rule->key, each.key) << each.path;
    EXPECT_EQ(rule->keys, each.keys) << each.path;
    EXPECT_EQ(rule->set, each.set) << each.path;
    EXPECT_EQ(rule->atomic, each.atomic) << each.path;
    EXPECT_EQ(rule->retain_keys, each.retain_keys) << each.path;
  }
  EXPECT_EQ(merge_rule(*job_schema, "spec.nothing"), nullptr);
}

TEST(BuiltinKinds, RayCluster) {
  auto value = admitted(of("ray.io/v1", "RayCluster", R"("spec":{
    "headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[{"name":"h"}]}}},
    "workerGroupSpecs":[{"groupName":"g","template":{"spec":{"containers":[{"name":"w"}]}}}]})"));
  EXPECT_TRUE(testing::equal(value["spec"].at("workerGroupSpecs").at(0).as_object(),
                             R"({"groupName":"g","replicas":0,"minReplicas":0,
    "maxReplicas":2147483647,"numOfHosts":1,"template":{"spec":{"containers":[{"name":"w"}]}}})"));
  EXPECT_THAT(problems(of("ray.io/v1", "RayCluster", R"("spec":{})")),
              ElementsAre("spec.headGroupSpec: Required value"));
}

}  // namespace
}  // namespace sluice::api
