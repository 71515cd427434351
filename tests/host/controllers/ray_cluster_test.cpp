// RayClusters with the real engine: their head, their workers, and what KubeRay puts beside them.
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::StartsWith;

TEST(RayCluster, IsQueuedWithHeadAndWorkers) {
  JobWorld world;
  const auto group = [](const char* name, int replicas) {
    return R"({"groupName":")" + std::string(name) + R"(","replicas":)" + std::to_string(replicas) +
           R"(,"rayStartParams":{},"template":{"spec":{"containers":[
           {"name":"w","image":"i","resources":{"requests":{"cpu":"1"}}}]}}})";
  };
  world.apply(R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"ray",
      "namespace":"default","labels":{)" +
              JobWorld::queued() +
              R"(}},"spec":{"headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[
      {"name":"h","image":"i","resources":{"requests":{"cpu":"1"}}}]}}},"workerGroupSpecs":[)" +
              group("Fast", 2) + "," + group("slow", 1) + "]}}");
  world.settle();
  const std::string name = world.only_workload();
  const auto workload = world.workload(name);
  EXPECT_THAT(name, StartsWith("raycluster-ray-"));
  EXPECT_EQ(at(workload, "/spec/podSets/0/name"), "head");
  EXPECT_EQ(at(workload, "/spec/podSets/1/name"), "fast");
  EXPECT_EQ(at(workload, "/spec/podSets/1/count"), "2");
  EXPECT_EQ(at(workload, "/spec/podSets/2/name"), "slow");
  const auto ray = world.get("rayclusters", "default/ray");
  EXPECT_EQ(at(ray, "/spec/suspend"), "false");
  EXPECT_EQ(at(ray, "/spec/headGroupSpec/template/spec/nodeSelector/size"), "small");
  EXPECT_EQ(at(ray, "/spec/workerGroupSpecs/1/template/spec/nodeSelector/size"), "large")
      << "small has 3 CPUs, and head and fast took them";
  world.status("rayclusters", "ray", R"({"state":"ready"})");
  EXPECT_THAT(world.condition(name, "PodsReady"), StartsWith("True"));
  world.change("workloads", name, R"({"spec":{"active":false}})");
  const auto stopped = world.get("rayclusters", "default/ray");
  EXPECT_EQ(at(stopped, "/spec/suspend"), "true");
  EXPECT_EQ(at(stopped, "/spec/workerGroupSpecs/1/template/spec/nodeSelector"), "(absent)");
}

// KubeRay puts it beside the head: 1 + 0.5 CPUs, or what its options say.
TEST(RayCluster, TheAutoscalerCountsWithTheHead) {
  for (const auto& [options, cpu] :
       {std::pair(std::string(), "500m"),
        std::pair(std::string(R"("autoscalerOptions":{"resources":{"requests":{"cpu":"2"}}},)"),
                  "2")}) {
    JobWorld world;
    world.apply(R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"ray",
        "namespace":"default","annotations":{"kueue.x-k8s.io/elastic-job":"true"},"labels":{)" +
                JobWorld::queued() + R"(}},"spec":{"enableInTreeAutoscaling":true,)" + options +
                R"("headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[
        {"name":"h","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}}})");
    world.settle();
    const auto workload = world.workload(world.only_workload());
    const std::string autoscaler = "/spec/podSets/0/template/spec/containers/1";
    EXPECT_EQ(at(workload, autoscaler + "/name"), "autoscaler");
    EXPECT_EQ(at(workload, autoscaler + "/resources/requests/cpu"), cpu);
    const auto ray = world.get("rayclusters", "default/ray");
    EXPECT_EQ(at(ray, "/spec/headGroupSpec/template/spec/containers/1"), "(absent)")
        << "that is KubeRay's to do";
  }
}

}  // namespace
}  // namespace sluice::host::test
