// The plugin as it is installed, in a host with jobs and pods: the proposal's stories and
// integration tests, and what happens beside them.
#include "elastic_world.hpp"

namespace elastic::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// ---- the stories

TEST(Story1, ScaleDownGivesQuotaBackAndTheRestRunsOn) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 3));
  world.submit(ElasticWorld::job_text("next", 2));
  ASSERT_THAT(world.slices("train"), ElementsAre("admitted 3"));
  ASSERT_THAT(world.slices("next"), ElementsAre("pending 2"));
  const auto before = world.running("train");
  ASSERT_THAT(before, SizeIs(3));

  world.resize("train", 2);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2")) << "in place";
  EXPECT_THAT(world.slices("next"), ElementsAre("admitted 2")) << "considered at once";
  EXPECT_EQ(world.cpus(), 4);
  EXPECT_THAT(world.running("train"), SizeIs(2));
  EXPECT_THAT(before, IsSupersetOf(world.running("train")));
  const auto w = world.get("workloads", "default/" + world.slice("train", "admitted 2"));
  EXPECT_EQ(ElasticWorld::at(w, "/status/admission/podSetAssignments/0/count"), "2");
  EXPECT_EQ(ElasticWorld::at(w, "/status/admission/podSetAssignments/0/resourceUsage/cpu"), "2");
}

TEST(Prebuilt, AWorkloadThatTheJobNamesIsItsFirstSlice) {
  ElasticWorld world;
  world.queue("5", "5");
  const std::string job = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train",
    "labels":{"kueue.x-k8s.io/queue-name":"lq","kueue.x-k8s.io/prebuilt-workload-name":"mine",
      "team":"a","kind":"job"},"annotations":{"kueue.x-k8s.io/elastic-job":"true"}},
    "spec":{"parallelism":3,"completions":1000,"template":{"spec":{"restartPolicy":"Never",
      "terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}}})";
  world.submit(job);
  EXPECT_THAT(world.names("workloads"), IsEmpty());
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{
    "name":"mine","namespace":"default","labels":{"team":"a","kind":"workload"},
    "annotations":{"kueue.x-k8s.io/elastic-job":"true"}},"spec":{"queueName":"lq","podSets":[
      {"name":"main","count":3,"template":{"spec":{"restartPolicy":"Never",
      "terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  world.settle();
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 3"));
  const auto before = world.running("train");
  ASSERT_THAT(before, SizeIs(3));

  world.resize("train", 6);  // 3 + 3 of 5: it stays on its flavor, so it waits
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 3", "pending 6"));
  EXPECT_EQ(world.running("train"), before);
  const auto growth = world.get("workloads", "default/" + world.slice("train", "pending 6"));
  EXPECT_EQ(ElasticWorld::at(growth, "/metadata/labels/team"), "a");
  EXPECT_EQ(ElasticWorld::at(growth, "/metadata/labels/kind"), "");
  world.resize("train", 5);
  EXPECT_THAT(world.slices("train"),
              ElementsAre("WorkloadSliceReplaced 3", "OutOfSync 6", "admitted 5"));
  EXPECT_THAT(world.running("train"), IsSupersetOf(before));
  world.resize("train", 2);
  EXPECT_THAT(world.slices("train"),
              ElementsAre("WorkloadSliceReplaced 3", "OutOfSync 6", "admitted 2"));
  EXPECT_EQ(world.cpus(), 2);
}

TEST(Story2, ScaleUpWaitsBehindGatesAndTakesOverInOneStep) {
  ElasticWorld world;
  world.queue("10", "0");
  world.submit(ElasticWorld::job_text("train", 3));
  const std::string first = world.slice("train", "admitted 3");
  const auto before = world.running("train");
  world.resize("train", 10);
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 3", "admitted 10"));
  const std::string second = world.slice("train", "admitted 10");
  const auto w = world.get("workloads", "default/" + second);
  EXPECT_EQ(
      ElasticWorld::at(w, "/metadata/annotations/kueue.x-k8s.io~1workload-slice-replacement-for"),
      "default/" + first);
  EXPECT_EQ(ElasticWorld::at(w, "/metadata/annotations/kueue.x-k8s.io~1workload-slice-name"),
            first);
  EXPECT_EQ(ElasticWorld::at(w, "/metadata/annotations/kueue.x-k8s.io~1elastic-job"), "true");
  const auto old = world.get("workloads", "default/" + first);
  EXPECT_EQ(
      ElasticWorld::condition(old, "Finished", "message"),
      "Removed to accommodate a workload (UID: " + ElasticWorld::at(w, "/metadata/uid") +
          ", JobUID: " + ElasticWorld::at(world.get("jobs", "default/train"), "/metadata/uid") +
          ") due to workload slice aggregation");
  EXPECT_EQ(world.cpus(), 10);
  EXPECT_THAT(world.running("train"), SizeIs(10));
  EXPECT_THAT(world.running("train"), IsSupersetOf(before)) << "nobody was restarted";
  EXPECT_FALSE(world.suspended("train"));
}

TEST(Growth, WaitsWhileTheJobRunsOn) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 3));
  const auto before = world.running("train");
  world.resize("train", 5);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 3", "pending 5"));
  EXPECT_EQ(world.gated("train"), 2u);
  EXPECT_EQ(world.running("train"), before);
  EXPECT_FALSE(world.suspended("train"));
  const auto w = world.get("workloads", "default/" + world.slice("train", "pending 5"));
  EXPECT_THAT(ElasticWorld::condition(w, "QuotaReserved", "message"), HasSubstr("cpu"));

  world.quota("5", "0");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 3", "admitted 5"));
  EXPECT_THAT(world.running("train"), IsSupersetOf(before));
  EXPECT_THAT(world.running("train"), SizeIs(5));
}

TEST(Growth, OnlyTheDifferenceNeedsQuota) {
  ElasticWorld world;
  world.queue("5", "0");
  world.submit(ElasticWorld::job_text("train", 4));
  world.resize("train", 5);
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 4", "admitted 5"));
}

TEST(Growth, ANewerSizeEndsTheOneThatWaits) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 3));
  world.resize("train", 5);
  world.resize("train", 6);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 3", "OutOfSync 5", "pending 6"));
  world.resize("train", 3);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 3", "OutOfSync 5", "OutOfSync 6"));
  EXPECT_EQ(world.gated("train"), 0u) << "what never ran went first";
  EXPECT_THAT(world.running("train"), SizeIs(3));
  world.resize("train", 4);
  EXPECT_THAT(world.slices("train"),
              ElementsAre("WorkloadSliceReplaced 3", "OutOfSync 5", "OutOfSync 6", "admitted 4"));
  EXPECT_EQ(world.metric("workload_slices_superseded_total"), 2);
  EXPECT_EQ(world.metric("workload_slices_created_total"), 3);
  EXPECT_EQ(world.metric("workload_slices_admitted_total"), 1);
  EXPECT_EQ(world.metric("workload_slices_replaced_total"), 1);
}

TEST(Growth, TenResizesLeaveTheFirstPodsAlone) {
  ElasticWorld world;
  world.queue("12", "0");
  world.submit(ElasticWorld::job_text("train", 2));
  auto survivors = world.running("train");
  for (const int size : {5, 3, 8, 2, 12, 4, 6, 2, 9, 3}) {
    world.resize("train", size);
    EXPECT_THAT(world.running("train"), SizeIs(size));
    EXPECT_THAT(world.running("train"), IsSupersetOf(survivors)) << size;
    EXPECT_EQ(world.cpus(), size);
    EXPECT_FALSE(world.suspended("train"));
  }
  EXPECT_THAT(world.slice_names("train"), SizeIs(6)) << "five of the past, and the present one";
  world.drop("jobs", "train");
  world.run_pods();
  EXPECT_THAT(world.names("workloads"), IsEmpty());
  EXPECT_THAT(world.names("pods"), IsEmpty());
  EXPECT_EQ(world.cpus(), 0);
}

// ---- flavors

TEST(StickyFlavor, TheProposalsTestAndItsMessage) {
  ElasticWorld world;
  world.queue("3", "8");
  world.submit(ElasticWorld::job_text("train", 2));
  world.resize("train", 5);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2", "pending 5"));
  const auto w = world.get("workloads", "default/" + world.slice("train", "pending 5"));
  EXPECT_EQ(ElasticWorld::condition(w, "QuotaReserved", "message"),
            "couldn't assign flavors to pod set main: couldn't change flavor from: small to: "
            "large, insufficient quota for cpu in flavor small, previously considered podsets "
            "requests (0) + current podset request (5) > maximum capacity (3)");
  EXPECT_EQ(world.gated("train"), 3u);
  world.resize("train", 3);
  EXPECT_THAT(world.slices("train"),
              ElementsAre("WorkloadSliceReplaced 2", "OutOfSync 5", "admitted 3"));
}

TEST(StickyFlavor, EndsWithTheEviction) {
  ElasticWorld world;
  world.queue("3", "8");
  world.submit(ElasticWorld::job_text("train", 2));
  world.resize("train", 5);
  world.change("clusterqueues", "cq", R"({"spec":{"stopPolicy":"HoldAndDrain"}})");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("pending 5", "OutOfSync 5"));
  EXPECT_TRUE(world.suspended("train"));
  EXPECT_THAT(world.pods("train"), IsEmpty());
  world.change("clusterqueues", "cq", R"({"spec":{"stopPolicy":"None"}})");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 5", "OutOfSync 5"));
  EXPECT_THAT(world.running("train"), SizeIs(5));
  EXPECT_EQ(
      ElasticWorld::at(world.get("jobs", "default/train"), "/spec/template/spec/nodeSelector/size"),
      "large");
}

// ---- deleted by hand

// docs/jobs.md: the job stops, and a new Workload is queued. The growth that ended with the
// eviction has the size of the job, and did not fail to start.
TEST(Deleted, TheWorkloadOfAJobWhoseGrowthEndedIsMadeAnew) {
  ElasticWorld world;
  world.queue("3", "0");
  world.submit(ElasticWorld::job_text("train", 2));
  world.resize("train", 5);  // of 3
  ASSERT_THAT(world.slices("train"), ElementsAre("admitted 2", "pending 5"));
  const std::string first = world.slice("train", "admitted 2");
  world.change("workloads", first, R"({"spec":{"active":false}})");
  world.run_pods();
  ASSERT_THAT(world.slices("train"), Contains("OutOfSync 5"));
  world.drop("workloads", first);
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("pending 5"));
  EXPECT_TRUE(world.suspended("train"));
  world.quota("9", "0");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 5"));
}

// ---- eviction

void add_priorities(ElasticWorld& world) {
  for (const std::string value : {"5", "9"})
    world.apply(
        R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"p)" +
        value + R"("},"value":)" + value + "}");
}

TEST(Preemption, TakesTheWholeJob) {
  ElasticWorld world;
  add_priorities(world);
  world.queue("6", "0");
  world.submit(ElasticWorld::job_text("train", 2));
  world.resize("train", 4);
  world.submit(ElasticWorld::job_text("high", 4, "", 9));
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 2", "pending 4"));
  EXPECT_TRUE(world.suspended("train"));
  EXPECT_THAT(world.running("train"), IsEmpty());
  EXPECT_THAT(world.slices("high"), ElementsAre("admitted 4"));
  world.drop("jobs", "high");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 2", "admitted 4"));
  EXPECT_THAT(world.running("train"), SizeIs(4));
}

TEST(Preemption, OfAReservedGrowthFreesTheDifferenceOnly) {
  ElasticWorld world;
  add_priorities(world);
  world.check("slow");
  world.queue("6", "0", R"("admissionChecksStrategy":{"admissionChecks":[{"name":"slow"}]},)");
  world.submit(ElasticWorld::job_text("train", 2));
  world.answer(world.slice("train", "reserved 2"), "slow", "Ready");
  world.run_pods();
  const auto before = world.running("train");
  world.pass(kSecond);
  world.resize("train", 5);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2", "reserved 5"));
  EXPECT_EQ(world.cpus(), 5) << "the larger of the two";
  EXPECT_EQ(world.gated("train"), 3u);

  world.submit(ElasticWorld::job_text("high", 4, "", 9));
  EXPECT_THAT(world.slices("high"), ElementsAre("reserved 4"));
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2", "pending 5"));
  EXPECT_EQ(world.running("train"), before);
  EXPECT_EQ(world.cpus(), 6);
  EXPECT_EQ(world.metric("workload_slices_failed_total"), 1);
  EXPECT_THAT(world.events.lines, Not(Contains(HasSubstr("FailedToStartPod"))));
}

TEST(Preemption, OfTheJobTakesItsReservedGrowthAlong) {
  ElasticWorld world;
  add_priorities(world);
  world.check("slow");
  world.queue("6", "0", R"("admissionChecksStrategy":{"admissionChecks":[{"name":"slow"}]},)");
  world.submit(ElasticWorld::job_text("train", 2));
  world.answer(world.slice("train", "reserved 2"), "slow", "Ready");
  world.run_pods();
  world.resize("train", 5);
  ASSERT_THAT(world.slices("train"), ElementsAre("admitted 2", "reserved 5"));
  world.submit(ElasticWorld::job_text("high", 6, "", 9));
  EXPECT_THAT(world.slices("high"), ElementsAre("reserved 6"));
  EXPECT_THAT(world.slices("train"), ElementsAre("pending 5", "OutOfSync 5"));
  EXPECT_TRUE(world.suspended("train"));
  EXPECT_EQ(world.cpus(), 6);
}

// ---- checks

struct Checked : ::testing::Test {
  Checked() {
    world.check("slow");
    world.queue("9", "0", R"("admissionChecksStrategy":{"admissionChecks":[{"name":"slow"}]},)");
    world.submit(ElasticWorld::job_text("train", 2));
    world.answer(world.slice("train", "reserved 2"), "slow", "Ready");
    world.run_pods();
    before = world.running("train");
    EXPECT_EQ(before.size(), 2u);
    world.resize("train", 5);
    EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2", "reserved 5"));
  }
  ElasticWorld world;
  std::vector<std::string> before;
};

TEST_F(Checked, PodsOfAGrowthStartWhenItsChecksAreReady) {
  EXPECT_EQ(world.gated("train"), 3u);
  world.answer(world.slice("train", "reserved 5"), "slow", "Ready",
               R"([{"name":"main","annotations":{"ticket":"7"},"nodeSelector":{"rack":"b"}}])");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 2", "admitted 5"));
  EXPECT_THAT(world.running("train"), SizeIs(5));
  EXPECT_THAT(world.running("train"), IsSupersetOf(before))
      << "what the check wants is for new pods";
  std::size_t with_ticket = 0;
  for (const auto& pod : world.pods("train")) {
    const auto object = world.get("pods", "default/" + pod.name);
    with_ticket += ElasticWorld::at(object, "/metadata/annotations/ticket") == "7" &&
                           ElasticWorld::at(object, "/spec/nodeSelector/rack") == "b"
                       ? 1
                       : 0;
  }
  EXPECT_EQ(with_ticket, 3u);
}

TEST_F(Checked, ARejectedGrowthNeverStopsTheJobAndIsNotFinished) {
  world.answer(world.slice("train", "reserved 5"), "slow", "Rejected");
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2", "inactive 5"));
  EXPECT_EQ(world.running("train"), before);
  EXPECT_FALSE(world.suspended("train"));
  EXPECT_EQ(world.cpus(), 2);
  EXPECT_THAT(world.events.lines, Not(Contains(HasSubstr("Stopped"))));
  world.resize("train", 6);
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2", "OutOfSync 5", "reserved 6"));
}

TEST_F(Checked, AGrowthThatIsToBeTriedAgainWaitsAndTheJobRunsOn) {
  world.answer(world.slice("train", "reserved 5"), "slow", "Retry");
  EXPECT_EQ(world.running("train"), before);
  EXPECT_FALSE(world.suspended("train"));
  EXPECT_EQ(world.slices("train").front(), "admitted 2");
  EXPECT_THAT(world.slices("train"), SizeIs(2));
  EXPECT_EQ(world.metric("workload_slices_failed_total"), 1);
}

TEST_F(Checked, AQuotaCutWhileItWaitsTakesNothingFromTheJob) {
  world.quota("4", "0");
  world.answer(world.slice("train", "reserved 5"), "slow", "Ready");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 2", "pending 5"));
  EXPECT_EQ(world.running("train"), before);
  world.quota("9", "0");
  world.answer(world.slice("train", "reserved 5"), "slow", "Ready");
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 2", "admitted 5"));
  EXPECT_THAT(world.running("train"), IsSupersetOf(before));
}

// ---- pods

TEST(Pods, OfAnOptedInJobAreGatedFromTheFirst) {
  ElasticWorld world;
  world.queue("2", "0");
  world.submit(ElasticWorld::job_text("big", 3));
  EXPECT_TRUE(world.suspended("big"));
  EXPECT_THAT(world.pods("big"), IsEmpty());
  world.submit(ElasticWorld::job_text("plain", 2, ""));
  EXPECT_THAT(world.running("plain"), SizeIs(2));
  const auto pod = world.get("pods", "default/" + world.pods("plain")[0].name);
  EXPECT_EQ(ElasticWorld::at(pod, "/spec/schedulingGates"), "");
}

TEST(Pods, ThatEndMakeRoomForTheNext) {
  ElasticWorld world;
  world.queue("2", "0");
  world.submit(
      ElasticWorld::job_text("train", 2, ElasticWorld::kElastic, 0, R"("completions":4,)"));
  const auto first = world.pods("train");
  ASSERT_THAT(first, SizeIs(2));
  world.succeed(first[0].name);
  world.run_pods();
  EXPECT_THAT(world.running("train"), SizeIs(2));
  EXPECT_EQ(world.gated("train"), 0u);
}

TEST(Pods, ThatAreDoneKeepTheirQuotaGivenBackWhenTheJobShrinks) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(
      ElasticWorld::job_text("train", 4, ElasticWorld::kElastic, 0, R"("completions":4,)"));
  for (int i = 0; i < 2; ++i) world.succeed(world.pods("train")[static_cast<std::size_t>(i)].name);
  EXPECT_EQ(world.cpus(), 2) << "two of four are done";
  world.resize("train", 2);
  EXPECT_THAT(world.running("train"), SizeIs(2)) << "the other two run on";
  EXPECT_EQ(world.cpus(), 2);
  for (const auto& pod : world.pods("train"))
    if (pod.running) world.succeed(pod.name);
  EXPECT_EQ(world.cpus(), 0);
  EXPECT_EQ(ElasticWorld::condition(world.get("jobs", "default/train"), "Complete"), "True");
}

TEST(Pods, ThatStillRunKeepTheirQuotaWhileAGrowthWaits) {
  // Of 4 pods 3 are over: of the 3 that it wants at a time 2 are not needed any more, of the 2 that
  // it has quota for 1.
  ElasticWorld world;
  world.queue("2", "0");
  world.submit(
      ElasticWorld::job_text("train", 2, ElasticWorld::kElastic, 0, R"("completions":4,)"));
  world.resize("train", 3);
  for (int over = 0; over < 3; ++over) {
    for (const auto& pod : world.pods("train"))
      if (pod.running) {
        world.succeed(pod.name);
        break;
      }
    world.run_pods();
  }
  EXPECT_THAT(world.running("train"), SizeIs(1));
  EXPECT_EQ(world.cpus(), 1);
}

TEST(Pods, OfAGrowthThatWaitsAreNotMissed) {
  // All that were granted are ready; those behind the gate are not expected to be.
  ElasticWorld world;
  world.queue("2", "0");
  world.submit(ElasticWorld::job_text("train", 2));
  world.resize("train", 4);
  const auto w = world.get("workloads", "default/" + world.slice("train", "admitted 2"));
  EXPECT_EQ(ElasticWorld::condition(w, "PodsReady"), "True");
}

}  // namespace
}  // namespace elastic::test
