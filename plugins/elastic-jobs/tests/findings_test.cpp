// What trials of jobs that change their size found, each by its number.
#include "elastic_world.hpp"
#include "host/executor/jobs/pod_pace.hpp"

namespace elastic::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

// ---- A9: a patch of parallelism made 20,000 pods in one turn

TEST(A9ManyPodsAtOnce, WithoutQuotaOnlySoManyWaitBehindTheGate) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 3, ElasticWorld::kElastic, 0, ""));
  world.resize("train", 20'000);
  for (int turn = 0; turn < 5; ++turn) world.pass(kSecond);
  EXPECT_EQ(world.gated("train"), PodPace::kMostGated);
  EXPECT_THAT(world.names("pods"), SizeIs(3 + PodPace::kMostGated));
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 3", "pending 20000"));
  EXPECT_THAT(world.running("train"), SizeIs(3));
  world.resize("train", 2);
  EXPECT_EQ(world.gated("train"), 0u);
  EXPECT_THAT(world.running("train"), SizeIs(2));
}

TEST(A9ManyPodsAtOnce, WithQuotaTheyAreMadeInPieces) {
  ElasticWorld world;
  world.queue("1000", "0");
  world.pass(kSecond);
  world.submit(ElasticWorld::job_text("train", 3));
  world.pass(kSecond);
  std::size_t before = world.names("pods").size();
  world.resize("train", 600);
  // An instant makes 250 at most: 597 take three.
  for (int instants = 1; world.running("train").size() < 600; ++instants) {
    ASSERT_LE(instants, 4);
    const std::size_t now = world.names("pods").size();
    EXPECT_LE(now - before, PodPace::kPerInstant);
    before = now;
    world.pass(kSecond);
    world.run_pods();
  }
  EXPECT_EQ(world.gated("train"), 0u);
  EXPECT_EQ(world.cpus(), 600);
}

TEST(A9ManyPodsAtOnce, AJobOfNoQueueIsMadeInPiecesToo) {
  ElasticWorld world;
  std::string job = ElasticWorld::job_text("free", 600, "");
  const std::string queue = R"("kueue.x-k8s.io/queue-name":"lq")";
  job.erase(job.find(queue), queue.size());
  world.pass(kSecond);
  ASSERT_EQ(world.send(WriteVerb::kCreate, "jobs", "", job), "");
  EXPECT_THAT(world.names("pods"), SizeIs(PodPace::kPerInstant));
  world.pass(kSecond);
  EXPECT_THAT(world.names("pods"), SizeIs(2 * PodPace::kPerInstant));
  world.pass(kSecond);
  EXPECT_THAT(world.names("pods"), SizeIs(600));
}

// ---- B1: an apply that sends the whole list of groups took the node selector away

json::object ray_cluster(int workers, bool elastic) {
  const std::string pod =
      R"("template":{"spec":{"terminationGracePeriodSeconds":0,
        "containers":[{"name":"r","image":"i",
        "resources":{"requests":{"cpu":"1"}}}]}})";
  return json::parse(R"({"metadata":{"name":"ray","labels":{"kueue.x-k8s.io/queue-name":"lq"},
             "annotations":{)" +
                     std::string(elastic ? ElasticWorld::kElastic : "") +
                     R"(}},"spec":{"headGroupSpec":{"rayStartParams":{},)" + pod +
                     R"(},"workerGroupSpecs":[{"groupName":"w","replicas":)" +
                     std::to_string(workers) +
                     R"(,"minReplicas":0,"maxReplicas":9,"rayStartParams":{},)" + pod + "}]}}")
      .get_object();
}

/// As `kubectl apply` does: the lists of the file, as the user wrote them.
void apply_groups(ElasticWorld& world, int workers) {
  const auto groups = ray_cluster(workers, true).at("spec").at("workerGroupSpecs");
  world.change("rayclusters", "ray",
               json::serialize(json::object{{"spec", json::object{{"workerGroupSpecs", groups}}}}));
  world.run_pods();
}

std::string worker_template(ElasticWorld& world, const std::string& pointer) {
  return ElasticWorld::at(world.get("rayclusters", "default/ray"),
                          "/spec/workerGroupSpecs/0/template" + pointer);
}

TEST(B1AppliedRayCluster, KeepsTheNodeSelectorAndTheLabelOfItsWorkers) {
  ElasticWorld world;
  world.queue("9", "0");
  ASSERT_EQ(
      world.send(WriteVerb::kCreate, "rayclusters", "", json::serialize(ray_cluster(1, true))), "");
  world.run_pods();
  ASSERT_THAT(world.slices("ray"), ElementsAre("admitted 1/1"));
  const auto before = world.running("ray");
  apply_groups(world, 3);
  EXPECT_EQ(worker_template(world, "/spec/nodeSelector/size"), "small");
  EXPECT_EQ(worker_template(world, "/metadata/labels/kueue.x-k8s.io~1podset"), "w");
  EXPECT_THAT(world.running("ray", "w"), SizeIs(3)) << "not counted to the head, and waiting";
  EXPECT_THAT(world.running("ray"), IsSupersetOf(before));
  EXPECT_EQ(world.gated("ray"), 0u);
  for (const auto& pod : world.pods("ray"))
    EXPECT_EQ(ElasticWorld::at(world.get("pods", "default/" + pod.name), "/spec/nodeSelector/size"),
              "small");
}

TEST(B1AppliedRayCluster, AlsoWhenItIsNotElastic) {
  ElasticWorld world;
  world.queue("9", "0");
  ASSERT_EQ(
      world.send(WriteVerb::kCreate, "rayclusters", "", json::serialize(ray_cluster(2, false))),
      "");
  world.run_pods();
  const auto before = world.running("ray");
  ASSERT_THAT(before, SizeIs(3));
  apply_groups(world, 2);
  EXPECT_EQ(worker_template(world, "/spec/nodeSelector/size"), "small");
  EXPECT_EQ(world.running("ray"), before) << "nothing changed";
}

// ---- B3: a host without the plugin deleted the admitted slice and stopped the job

TEST(B3WithoutThePlugin, AJobThatWasAboutToGrowRunsOn) {
  ElasticWorld world;
  world.queue("6", "0");
  world.submit(ElasticWorld::job_text("train", 3));
  world.resize("train", 8);
  const auto before = world.running("train");
  ASSERT_THAT(world.slices("train"), ElementsAre("admitted 3", "pending 8"));
  world.restart(false);
  world.run_pods();
  EXPECT_FALSE(world.suspended("train"));
  EXPECT_EQ(world.running("train"), before);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 3", "pending 8"));
  EXPECT_EQ(world.gated("train"), 5u);
  // No plugin says how many may run: further pods wait for the plugin by name.
  const auto pods = world.pods("train");
  const auto waits =
      std::find_if(pods.begin(), pods.end(), [](const auto& pod) { return pod.gated; });
  ASSERT_NE(waits, pods.end());
  world.drop("pods", waits->name);
  world.run_pods();
  EXPECT_EQ(world.running("train"), before);
  EXPECT_EQ(world.gated("train"), 5u);
  world.restart(true);
  world.quota("8", "0");
  world.run_pods();
  EXPECT_THAT(world.running("train"), SizeIs(8));
  EXPECT_THAT(world.running("train"), IsSupersetOf(before));
}

// ---- B4: each growth began the maximum execution time anew

TEST(B4MaximumExecutionTime, CountsOverGrowths) {
  ElasticWorld world;
  world.queue("9", "0");
  std::string job = ElasticWorld::job_text("train", 3);
  job.insert(job.find(R"("kueue.x-k8s.io/queue-name")"),
             R"("kueue.x-k8s.io/max-exec-time-seconds":"60",)");
  world.submit(job);
  world.pass(30 * kSecond);
  world.resize("train", 4);
  ASSERT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 3", "admitted 4"));
  const auto grown = world.get("workloads", "default/" + world.slice("train", "admitted 4"));
  EXPECT_EQ(ElasticWorld::at(grown, "/status/accumulatedPastExecutionTimeSeconds"), "30");
  world.pass(20 * kSecond);
  world.resize("train", 5);
  world.pass(9 * kSecond);
  EXPECT_FALSE(world.suspended("train")) << "59 of 60 seconds";
  world.pass(1 * kSecond);
  world.run_pods();
  EXPECT_TRUE(world.suspended("train"));
  EXPECT_THAT(world.running("train"), SizeIs(0));
}

// ---- C7: lowering a slice some of whose pods are done was refused once, with a warning

TEST(C7ReclaimablePods, ASliceIsLoweredAtOnceAndWithoutAWarning) {
  ElasticWorld world;
  world.queue("10", "0");
  world.submit(
      ElasticWorld::job_text("train", 5, ElasticWorld::kElastic, 0, R"("completions":6,)"));
  for (int i = 0; i < 3; ++i) {
    for (const auto& pod : world.pods("train"))
      if (pod.running) {
        world.succeed(pod.name);
        break;
      }
    world.run_pods();
  }
  world.resize("train", 8);
  ASSERT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 5", "admitted 6"));
  const auto name = world.slice("train", "admitted 6");
  ASSERT_EQ(ElasticWorld::at(world.get("workloads", "default/" + name),
                             "/status/reclaimablePods/0/count"),
            "3")
      << "three of six are done";
  ::testing::internal::CaptureStderr();
  world.resize("train", 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 5", "admitted 2"));
  EXPECT_EQ(world.cpus(), 2);
}

// ---- B14: Kueue's finalizer was never removed

std::string kept_workload(const std::string& name) {
  return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" + name +
         R"(","finalizers":["kueue.x-k8s.io/resource-in-use"]},"spec":{"queueName":"lq",
           "podSets":[{"name":"main","count":4,"template":{"spec":{"restartPolicy":"Never",
           "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})";
}

TEST(B14ResourceInUse, ADeletedWorkloadOfNobodyGoes) {
  ElasticWorld world;
  world.queue("4", "0");
  ASSERT_EQ(world.send(WriteVerb::kCreate, "workloads", "", kept_workload("a")), "");
  ASSERT_EQ(world.cpus(), 4);
  world.drop("workloads", "a");
  EXPECT_FALSE(world.exists("workloads", "default/a"));
  EXPECT_EQ(world.cpus(), 0);
}

TEST(B14ResourceInUse, OneOfAJobGoesWhenItsPodsHaveEnded) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 2, ""));
  const std::string name = world.slice_names("train")[0];
  world.change("workloads", name,
               R"({"metadata":{"finalizers":["kueue.x-k8s.io/resource-in-use"]}})");
  const auto before = world.running("train");
  ASSERT_THAT(before, SizeIs(2));
  world.drop("workloads", name);
  world.run_pods();
  world.run_pods();
  // A new one took its place, and the job began anew.
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2"));
  EXPECT_THAT(world.running("train"), SizeIs(2));
  for (const auto& uid : world.running("train"))
    EXPECT_EQ(std::count(before.begin(), before.end(), uid), 0);
  EXPECT_EQ(world.cpus(), 2);
  EXPECT_EQ(ElasticWorld::at(world.get("workloads", "default/" + world.slice_names("train")[0]),
                             "/metadata/finalizers"),
            "");
}

TEST(B14ResourceInUse, OneGoesWithItsJob) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 2, ""));
  world.change("workloads", world.slice_names("train")[0],
               R"({"metadata":{"finalizers":["kueue.x-k8s.io/resource-in-use"]}})");
  world.drop("jobs", "train");
  world.run_pods();
  EXPECT_THAT(world.names("workloads"), SizeIs(0));
  EXPECT_EQ(world.cpus(), 0);
}

}  // namespace
}  // namespace elastic::test
