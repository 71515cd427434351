#include <gtest/gtest.h>

#include "host/executor/jobs/ray_pods_controller.hpp"
#include "host/executor/pod_controller.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::at;

struct RayPodsTest : testing::Test, test::HostFixture {
  RayPodsTest() {
    controllers.add(rays);
    controllers.add(ends);
    const std::string pod = R"({"spec":{"containers":[{"name":"r","image":"i","command":["x"],)"
                            R"("resources":{"requests":{"cpu":"2"}}}]}})";
    const auto done = create(
        "rayclusters", R"({"metadata":{"name":"ray"},"spec":{"headGroupSpec":{"rayStartParams":{},)"
                       R"("template":)" +
                           pod +
                           R"(},"workerGroupSpecs":[{"groupName":"small",)"
                           R"("replicas":2,"minReplicas":0,"maxReplicas":5,"rayStartParams":{},)"
                           R"("template":)" +
                           pod + "}]}}");
    EXPECT_TRUE(done) << done.error().text;
    kernel.run_to_rest();
  }
  std::vector<std::string> pods() {
    return static_cast<const ObjectAccess&>(objects).keys(kind("pods"), "default");
  }
  void all(const std::string& status) {
    for (const std::string& key : pods()) {
      ASSERT_TRUE(merge("pods", key.substr(8), R"({"status":)" + status + "}", "status"));
    }
    kernel.run_to_rest();
  }
  boost::json::object ray() { return get("rayclusters", "default/ray"); }

  RayPodsController rays;
  PodController ends;
};

constexpr const char* kReady =
    R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})";

TEST_F(RayPodsTest, HeadAndWorkersAndStatus) {
  ASSERT_EQ(pods().size(), 3U);
  EXPECT_EQ(pods()[0].substr(0, 17), "default/ray-head-");
  EXPECT_EQ(pods()[1].substr(0, 25), "default/ray-small-worker-");
  EXPECT_EQ(at(ray(), "/status/desiredWorkerReplicas"), "2");
  EXPECT_EQ(at(ray(), "/status/desiredCPU"), "6");  // three pods of two
  EXPECT_EQ(at(ray(), "/status/state"), "(absent)");
  all(kReady);
  EXPECT_EQ(at(ray(), "/status/state"), "ready");
  EXPECT_EQ(at(ray(), "/status/availableWorkerReplicas"), "2");
}

TEST_F(RayPodsTest, FollowsReplicas) {
  const auto scale = [&](const char* replicas) {
    auto cluster = ray();
    cluster["spec"].at("workerGroupSpecs").at(0).as_object()["replicas"] = std::stoi(replicas);
    ASSERT_TRUE(static_cast<ObjectAccess&>(objects).update(cluster));
    kernel.run_to_rest();
  };
  scale("4");
  EXPECT_EQ(pods().size(), 5U);
  scale("1");
  EXPECT_EQ(pods().size(), 2U);
}

TEST_F(RayPodsTest, WhatTheAutoscalerChoseGoesFirst) {
  all(kReady);
  const std::string chosen = pods()[1].substr(8);
  auto cluster = ray();
  auto& group = cluster["spec"].at("workerGroupSpecs").at(0).as_object();
  group["replicas"] = 1;
  group["scaleStrategy"] = {{"workersToDelete", boost::json::array{chosen}}};
  ASSERT_TRUE(static_cast<ObjectAccess&>(objects).update(cluster));
  kernel.run_to_rest();
  EXPECT_EQ(pods().size(), 2U);
  EXPECT_FALSE(exists("pods", "default/" + chosen));
}

TEST_F(RayPodsTest, SuspensionEndsAllPods) {
  ASSERT_TRUE(merge("rayclusters", "ray", R"({"spec":{"suspend":true}})"));
  kernel.run_to_rest();
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(at(ray(), "/status/state"), "suspended");
  ASSERT_TRUE(merge("rayclusters", "ray", R"({"spec":{"suspend":false}})"));
  kernel.run_to_rest();
  EXPECT_EQ(pods().size(), 3U);
}

TEST_F(RayPodsTest, WhatEndedIsReplacedAfterAPause) {
  all(R"({"phase":"Failed"})");
  EXPECT_EQ(pods().size(), 3U);
  const auto old = pods();
  kernel.begin_instant(now + 11 * kSecond);
  kernel.run_to_rest();
  EXPECT_EQ(pods().size(), 3U);
  EXPECT_NE(pods(), old);
}

}  // namespace
}  // namespace sluice::host
