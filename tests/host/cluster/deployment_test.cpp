// Sluice as pods of a cluster: what they may, and what they are told.
#include "host/cluster/deployment.hpp"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <string>

#include "api/json/json.hpp"
#include "host/cluster/roles.hpp"
#include "host/decide/followed_kinds.hpp"
#include "host/observe/mirror.hpp"
#include "host/plugins/clock.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

ClusterDeployment observer(const std::string& config = "") {
  ClusterDeployment out;
  out.name = "sluice-observer";
  out.command = "observe";
  out.port = 6480;
  out.config = config;
  out.cluster_rules = rules_to_follow(kinds_to_follow(test::scheme(), true));
  return out;
}

std::vector<std::string> kinds_of(const std::vector<json::object>& list) {
  std::vector<std::string> out;
  for (const auto& each : list) out.emplace_back(api::find_text(each, "kind"));
  return out;
}

TEST(Deployment, EachObjectStandsBehindWhatItNeeds) {
  EXPECT_THAT(kinds_of(deployment_objects(observer())),
              ElementsAre("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding",
                          "Deployment", "Service"));
}

TEST(Deployment, ItMayListAndWatchWhatItFollowsAndNothingElse) {
  const auto role = deployment_objects(observer())[2];
  EXPECT_EQ(
      json::serialize(role.at("rules")),
      R"([{"apiGroups":[""],"resources":["limitranges","namespaces"],"verbs":["list","watch"]},)"
      R"({"apiGroups":["batch"],"resources":["jobs"],"verbs":["list","watch"]},)"
      R"({"apiGroups":["kueue.x-k8s.io"],"resources":["admissionchecks","clusterqueues",)"
      R"("cohorts","localqueues","resourceflavors","workloadpriorityclasses","workloads"],)"
      R"("verbs":["list","watch"]},{"apiGroups":["node.k8s.io"],)"
      R"("resources":["runtimeclasses"],"verbs":["list","watch"]},)"
      R"({"apiGroups":["scheduling.k8s.io"],)"
      R"("resources":["priorityclasses"],"verbs":["list","watch"]}])");
}

TEST(Deployment, WhoDecidesHasARoleInItsOwnNamespaceToo) {
  ClusterDeployment controller = observer();
  controller.own_rules = rules_to_lead();
  controller.replicas = 2;
  const auto list = deployment_objects(controller);
  EXPECT_THAT(kinds_of(list),
              ElementsAre("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding",
                          "Role", "RoleBinding", "Deployment", "Service"));
  EXPECT_EQ(json::serialize(list[4].at("rules")),
            R"([{"apiGroups":["coordination.k8s.io"],"resources":["leases"],)"
            R"("verbs":["create","get","update"]}])");
  EXPECT_EQ(list[6].at("spec").at("replicas"), 2);
}

/// The verbs of a role for a resource, as `verb verb`; empty: none.
std::string verbs_of(const json::array& rules, std::string_view resource) {
  std::string out;
  for (const json::value& rule : rules)
    for (const json::value& each : rule.at("resources").as_array())
      if (each.as_string() == resource)
        for (const json::value& verb : rule.at("verbs").as_array())
          out += std::string(out.empty() ? "" : " ") + std::string(verb.as_string());
  return out;
}

TEST(Deployment, WhoDecidesMayDoWhatItDoesAndNoMore) {
  const VirtualClock clock;
  const Configuration config;
  const auto rules = Rules::load(config.plugins, std::vector<std::string>(), clock);
  ASSERT_TRUE(rules);
  const json::array may = rules_to_decide(followed_kinds(config, **rules), {});
  const struct {
    std::string_view resource, verbs;
  } rows[] = {
      {"workloads", "create delete get list patch watch"},
      {"workloads/status", "patch"},
      {"jobs", "get list patch watch"},
      {"jobs/status", "patch"},
      {"jobs/finalizers", "update"},
      {"clusterqueues", "get list patch watch"},  // Kueue's finalizer goes with the last use
      {"clusterqueues/status", "patch"},
      {"resourceflavors", "get list patch watch"},
      {"localqueues", "get list watch"},
      {"admissionchecks", "get list patch watch"},  // an annotation tells which plugin answers
      {"admissionchecks/status", "patch"},
      {"namespaces", "get list watch"},
      {"events", "create"},
      {"pods", ""},  // of a plugin that gates them
      {"secrets", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(verbs_of(may, row.resource), row.verbs) << row.resource;
}

// Secrets are followed for a plugin that reads them: only what it declares is written there.
TEST(Deployment, WhoOnlyReadsSecretsMayNotWriteThem) {
  const VirtualClock clock;
  const Configuration config;
  const auto rules = Rules::load(config.plugins, std::vector<std::string>(), clock);
  ASSERT_TRUE(rules);
  const std::vector<FollowedKind> kinds = {{(*rules)->scheme.find("v1", "Secret"), {"v1"}}};
  EXPECT_EQ(verbs_of(rules_to_decide(kinds, {{{"get"}, "*"}}), "secrets"), "get list watch");
}

TEST(Deployment, RetentionOfDeactivatedWorkloadsDeletesTheirJobs) {
  const VirtualClock clock;
  Configuration config;
  const auto rules = Rules::load(config.plugins, std::vector<std::string>(), clock);
  ASSERT_TRUE(rules);
  const auto of_jobs = [&] {
    return verbs_of(rules_to_decide(followed_kinds(config, **rules),
                                    rights_to_retain(config.retention, (*rules)->scheme)),
                    "jobs");
  };
  config.retention.after_finished = 5 * kSecond;
  EXPECT_EQ(of_jobs(), "get list patch watch");
  config.retention.after_deactivated = 5 * kSecond;
  EXPECT_EQ(of_jobs(), "delete get list patch watch");
}

// What a plugin's library declares that it may do to objects, the cluster's role has to allow: a
// change goes out as a patch, and whoever deletes may hold up a deletion as well.
TEST(Deployment, WhatPluginsMayWriteTheRoleAllows) {
  const VirtualClock clock;
  const Configuration config;
  const auto rules = Rules::load(config.plugins, std::vector<std::string>(), clock);
  ASSERT_TRUE(rules);
  std::vector<FollowedKind> kinds = followed_kinds(config, **rules);
  kinds.push_back({(*rules)->scheme.find("v1", "Pod"), {"v1"}});
  const json::array may = rules_to_decide(kinds, {{{"get", "update", "delete"}, "Pod"},
                                                  {{"patch"}, "Pod/status"},
                                                  {{"delete"}, "example.com/Pod"},
                                                  {{"create"}, "kueue.x-k8s.io/LocalQueue"}});
  const struct {
    std::string_view resource, verbs;
  } rows[] = {
      {"pods", "delete get list patch watch"},
      {"pods/status", "patch"},
      {"pods/finalizers", "update"},
      {"localqueues", "create get list watch"},
      {"clusterqueues", "get list patch watch"},
  };
  for (const auto& row : rows) EXPECT_EQ(verbs_of(may, row.resource), row.verbs) << row.resource;
}

TEST(Deployment, AnotherConfigurationIsAnotherPod) {
  const auto pod = [](const std::string& config) {
    const auto list = deployment_objects(observer(config));
    EXPECT_THAT(kinds_of(list), ::testing::Contains("ConfigMap"));
    return json::serialize(list[5].at("spec").at("template"));
  };
  EXPECT_EQ(pod("a: 1\n"), pod("a: 1\n"));
  EXPECT_NE(pod("a: 1\n"), pod("a: 2\n"));
  EXPECT_NE(pod("a: 1\n").find(R"("--config","/etc/sluice-observer/sluice.yaml")"),
            std::string::npos);
}

// What a pod keeps is a volume of its own, which the pod that comes after it in its place gets.
TEST(Deployment, EachPodHasAFolderToKeep) {
  ClusterDeployment given = observer();
  given.replicas = 2;
  given.kept_folder = "/var/lib/sluice-history";
  given.kept_bytes = 1 << 20;
  const auto list = deployment_objects(given);
  EXPECT_THAT(kinds_of(list), ElementsAre("Namespace", "ServiceAccount", "ClusterRole",
                                          "ClusterRoleBinding", "StatefulSet", "Service"));
  const json::value& spec = list[4].at("spec");
  EXPECT_EQ(spec.at("serviceName"), list[5].at("metadata").at("name"));
  EXPECT_EQ(spec.at("podManagementPolicy"), "Parallel");
  const json::value& claim = spec.at("volumeClaimTemplates").at(0);
  EXPECT_EQ(claim.at("spec").at("resources").at("requests").at("storage"), "1048576");
  const json::value& mounts =
      spec.at("template").at("spec").at("containers").at(0).at("volumeMounts");
  const json::value& mounted = mounts.as_array().back();
  EXPECT_EQ(mounted.at("name"), claim.at("metadata").at("name"));
  EXPECT_EQ(mounted.at("mountPath"), "/var/lib/sluice-history");
}

TEST(Deployment, ImageNamespaceAndOptionsAreThoseGiven) {
  ClusterDeployment given = observer();
  given.ns = "elsewhere";
  given.image = "example.com/s:1";
  given.options = {"--x"};
  const auto list = deployment_objects(given);
  EXPECT_EQ(list[0].at("metadata").at("name"), "elsewhere");
  EXPECT_EQ(list[3].at("subjects").at(0).at("namespace"), "elsewhere");
  const json::value& container =
      list[4].at("spec").at("template").at("spec").at("containers").at(0);
  EXPECT_EQ(container.at("image"), "example.com/s:1");
  EXPECT_EQ(container.at("command").as_array().back(), "--x");
}

}  // namespace
}  // namespace sluice::host
