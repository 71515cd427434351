// The observer as a pod: what it may, and what it is told.
#include "host/cluster/deployment.hpp"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <string>

#include "api/json/json.hpp"
#include "host/observe/mirror.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

std::vector<json::object> objects(const ObserverDeployment& deployment) {
  return observer_objects(deployment, kinds_to_follow(test::scheme(), true));
}

ObserverDeployment with_config(const std::string& config) {
  ObserverDeployment out;
  out.config = config;
  return out;
}

std::vector<std::string> kinds_of(const std::vector<json::object>& list) {
  std::vector<std::string> out;
  for (const auto& each : list) out.emplace_back(api::find_text(each, "kind"));
  return out;
}

TEST(Deployment, EachObjectStandsBehindWhatItNeeds) {
  EXPECT_THAT(kinds_of(objects(ObserverDeployment())),
              ElementsAre("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding",
                          "Deployment", "Service"));
}

TEST(Deployment, ItMayListAndWatchWhatItFollowsAndNothingElse) {
  const auto role = objects(ObserverDeployment())[2];
  EXPECT_EQ(json::serialize(role.at("rules")),
            R"([{"apiGroups":[""],"resources":["namespaces"],"verbs":["list","watch"]},)"
            R"({"apiGroups":["batch"],"resources":["jobs"],"verbs":["list","watch"]},)"
            R"({"apiGroups":["kueue.x-k8s.io"],"resources":["admissionchecks","clusterqueues",)"
            R"("cohorts","localqueues","resourceflavors","workloadpriorityclasses","workloads"],)"
            R"("verbs":["list","watch"]},{"apiGroups":["scheduling.k8s.io"],)"
            R"("resources":["priorityclasses"],"verbs":["list","watch"]}])");
}

TEST(Deployment, AnotherConfigurationIsAnotherPod) {
  const auto pod = [](const std::string& config) {
    const auto list = objects(with_config(config));
    EXPECT_THAT(kinds_of(list), ::testing::Contains("ConfigMap"));
    return json::serialize(list[5].at("spec").at("template"));
  };
  EXPECT_EQ(pod("a: 1\n"), pod("a: 1\n"));
  EXPECT_NE(pod("a: 1\n"), pod("a: 2\n"));
  EXPECT_NE(pod("a: 1\n").find(R"("--config","/etc/sluice-observer/sluice.yaml")"),
            std::string::npos);
}

TEST(Deployment, ImageNamespaceAndOptionsAreThoseGiven) {
  ObserverDeployment given;
  given.ns = "elsewhere";
  given.image = "example.com/s:1";
  given.options = {"--x"};
  const auto list = objects(given);
  EXPECT_EQ(list[0].at("metadata").at("name"), "elsewhere");
  EXPECT_EQ(list[3].at("subjects").at(0).at("namespace"), "elsewhere");
  const json::value& container =
      list[4].at("spec").at("template").at("spec").at("containers").at(0);
  EXPECT_EQ(container.at("image"), "example.com/s:1");
  EXPECT_EQ(container.at("command").as_array().back(), "--x");
}

}  // namespace
}  // namespace sluice::host
