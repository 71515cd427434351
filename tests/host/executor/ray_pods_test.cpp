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
    make("ray", "small");
  }
  /// A cluster of a head and two workers in one group.
  void make(const std::string& name, const std::string& group) {
    const std::string pod = R"({"spec":{"containers":[{"name":"r","image":"i","command":["x"],)"
                            R"("resources":{"requests":{"cpu":"2"}}}]}})";
    const auto done =
        create("rayclusters", R"({"metadata":{"name":")" + name +
                                  R"("},"spec":{"headGroupSpec":{"rayStartParams":{},"template":)" +
                                  pod + R"(},"workerGroupSpecs":[{"groupName":")" + group +
                                  R"(","replicas":2,"minReplicas":0,"maxReplicas":5,)"
                                  R"("rayStartParams":{},"template":)" +
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

// KubeRay's own samples have such groups. The label has the group's name as it is.
TEST_F(RayPodsTest, PodsOfAGroupWithCapitalLettersAreNamedInLowerCase) {
  make("b", "Workergroup");
  ASSERT_EQ(pods().size(), 6U);
  EXPECT_EQ(pods()[0].substr(0, 15), "default/b-head-");
  EXPECT_EQ(pods()[1].substr(0, 29), "default/b-workergroup-worker-");
  EXPECT_EQ(at(get("pods", pods()[1]), "/metadata/labels/ray.io~1group"), "Workergroup");
}

// A group whose name no pod can have: the head runs, and the status says what is asked for.
TEST_F(RayPodsTest, TheStatusIsWrittenAlsoWhereAPodIsRefused) {
  make("b", "no_name");
  ASSERT_EQ(pods().size(), 4U);
  const auto status = [this](const std::string& field) {
    return at(get("rayclusters", "default/b"), "/status/" + field);
  };
  EXPECT_EQ(status("desiredWorkerReplicas"), "2");
  EXPECT_EQ(status("readyWorkerReplicas"), "0");
  EXPECT_EQ(status("desiredCPU"), "6");
  all(kReady);
  EXPECT_EQ(status("conditions/0/type"), "HeadPodReady");
  EXPECT_EQ(status("conditions/0/status"), "True");
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
