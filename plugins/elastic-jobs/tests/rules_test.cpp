// What may be written, what happens without the plugin, RayClusters, and what a thousand jobs cost.
#include "elastic_world.hpp"

namespace elastic::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Le;
using ::testing::SizeIs;

constexpr const char* kTogether = "partial admission and elastic job cannot be used together";
constexpr const char* kOld = R"("kueue.x-k8s.io/dynamically-sized-job":"true")";
constexpr const char* kMin = R"("kueue.x-k8s.io/job-min-parallelism":"1")";

std::string create(ElasticWorld& world, const std::string& annotations) {
  return world.send(WriteVerb::kCreate, "jobs", "",
                    ElasticWorld::job_text("train", 3, annotations));
}

// ---- what may be written

TEST(Written, AnnotationsThatContradict) {
  ElasticWorld world;
  world.queue("9", "0");
  const auto both = [](const std::string& a, const std::string& b) { return a + "," + b; };
  EXPECT_THAT(create(world, both(ElasticWorld::kElastic, kMin)), HasSubstr(kTogether));
  EXPECT_THAT(create(world, both(kOld, kMin)),
              HasSubstr("metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Forbidden: "));
  EXPECT_THAT(create(world, R"("kueue.x-k8s.io/elastic-job":"yes")"),
              HasSubstr("metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: \"yes\": "
                        "should be true or false"));
  EXPECT_THAT(
      create(world, both(kOld, R"("kueue.x-k8s.io/elastic-job":"false")")),
      HasSubstr("metadata.annotations[kueue.x-k8s.io/dynamically-sized-job]: Invalid value"));
  EXPECT_THAT(world.names("jobs"), IsEmpty());
  EXPECT_EQ(create(world, both(kOld, ElasticWorld::kElastic)), "");
}

TEST(Written, TheAnnotationOfAJobThatHasWorkloadsStays) {
  ElasticWorld world;
  world.queue("9", "0");
  world.submit(ElasticWorld::job_text("train", 2));
  const auto annotate = [&](const std::string& value) {
    return world.send(
        WriteVerb::kPatch, "jobs", "train",
        R"({"metadata":{"annotations":{"kueue.x-k8s.io/elastic-job":)" + value + "}}}");
  };
  EXPECT_THAT(annotate("null"), HasSubstr("field is immutable while the job has workloads"));
  EXPECT_THAT(annotate("\"false\""), HasSubstr("field is immutable while the job has workloads"));
  EXPECT_EQ(world.send(WriteVerb::kPatch, "jobs", "train",
                       std::string(R"({"metadata":{"annotations":{)") + kOld + "}}}"),
            "")
      << "the other spelling changes nothing";
  // One that is in no queue has none.
  std::string free = ElasticWorld::job_text("free", 2, "");
  free.replace(free.find("kueue.x-k8s.io/queue-name"), 25, "example.com/nothing");
  ASSERT_EQ(world.send(WriteVerb::kCreate, "jobs", "", free), "");
  EXPECT_EQ(
      world.send(WriteVerb::kPatch, "jobs", "free",
                 std::string(R"({"metadata":{"annotations":{)") + ElasticWorld::kElastic + "}}}"),
      "");
  world.run_pods();
  EXPECT_THAT(world.running("free"), SizeIs(2)) << "and its pods wait for nobody";
}

TEST(Written, AWorkloadThatOptsInHasNoMinCount) {
  ElasticWorld world;
  world.queue("9", "0");
  const auto workload = [](const std::string& annotations) {
    return R"({"metadata":{"name":"w","annotations":{)" + annotations +
           R"(}},"spec":{"queueName":"lq","podSets":[{"name":"main","count":3,"minCount":1,
             "template":{"spec":{"restartPolicy":"Never",
             "containers":[{"name":"c","image":"i"}]}}}]}})";
  };
  EXPECT_THAT(world.send(WriteVerb::kCreate, "workloads", "", workload(ElasticWorld::kElastic)),
              HasSubstr(std::string("spec.podSets[0].minCount: Forbidden: ") + kTogether));
  EXPECT_EQ(world.send(WriteVerb::kCreate, "workloads", "", workload("")), "");
}

TEST(Written, TheOtherSpellingScalesToo) {
  ElasticWorld world;
  world.queue("9", "0");
  world.submit(ElasticWorld::job_text("train", 2, kOld));
  const auto before = world.running("train");
  world.resize("train", 4);
  EXPECT_THAT(world.slices("train"), ElementsAre("WorkloadSliceReplaced 2", "admitted 4"));
  EXPECT_THAT(world.running("train"), IsSupersetOf(before));
}

TEST(Written, NamesFollowTheFormula) {
  ElasticWorld world;
  world.queue("9", "0");
  std::string job = ElasticWorld::job_text("demo-slice", 2);
  job.replace(
      job.find(R"("name":"demo-slice")"), 19,
      R"("namespace":"default","uid":"78d1e61a-c399-4c09-800f-a0bbfb5fe71e","name":"demo-slice")");
  world.apply(job);
  world.settle();
  EXPECT_THAT(world.slice_names("demo-slice"), ElementsAre("job-demo-slice-e7080"))
      << "generation 1";
}

// ---- off and on

TEST(Off, TheAnnotationMeansNothing) {
  ElasticWorld world;
  world.queue("9", "0");
  world.restart(false);
  world.submit(ElasticWorld::job_text("train", 2));
  const auto before = world.running("train");
  world.resize("train", 4);
  world.run_pods();
  EXPECT_THAT(world.slices("train"), ElementsAre("admitted 4"));
  for (const auto& uid : world.running("train"))
    EXPECT_EQ(std::count(before.begin(), before.end(), uid), 0);
  world.restart(true);
  const auto now = world.running("train");
  world.resize("train", 6);
  EXPECT_THAT(world.running("train"), IsSupersetOf(now));
  EXPECT_EQ(world.cpus(), 6);
}

TEST(Off, WithAGrowthInFlightNothingLeaks) {
  ElasticWorld world;
  world.queue("3", "0");
  world.submit(ElasticWorld::job_text("train", 2));
  world.submit(ElasticWorld::job_text("steady", 1));
  const auto steady = world.running("steady");
  world.resize("train", 3);
  ASSERT_EQ(world.gated("train"), 1u);
  world.turn_off();
  world.run_pods();
  EXPECT_EQ(world.running("steady"), steady) << "nobody who keeps his size notices";
  EXPECT_TRUE(world.suspended("train"));
  EXPECT_THAT(world.pods("train"), IsEmpty());
  EXPECT_THAT(world.slices("train"), ElementsAre("pending 3"));
  for (const auto& name : world.names("workloads"))
    EXPECT_EQ(ElasticWorld::at(world.get("workloads", "default/" + name),
                               "/metadata/annotations/sluice.dev~1claimed-by"),
              "");
  world.restart(true);
  world.quota("4", "0");
  world.run_pods();
  EXPECT_THAT(world.running("train"), SizeIs(3));
  EXPECT_EQ(world.running("steady"), steady);
  for (const char* job : {"train", "steady"}) world.drop("jobs", job);
  world.run_pods();
  EXPECT_THAT(world.names("workloads"), IsEmpty());
  EXPECT_THAT(world.names("pods"), IsEmpty());
}

TEST(Off, AwayItIsMissedByNameAndWhatRunsRunsOn) {
  ElasticWorld world;
  world.queue("3", "0");
  world.submit(ElasticWorld::job_text("train", 2));
  world.submit(ElasticWorld::job_text("next", 2));
  const auto before = world.running("train");
  world.restart(false);
  world.run_pods();
  EXPECT_EQ(world.running("train"), before);
  const auto w = world.get("workloads", "default/" + world.slice("next", "pending 2"));
  EXPECT_THAT(ElasticWorld::condition(w, "QuotaReserved", "message"),
              HasSubstr("Plugin elastic-jobs, which manages this workload, is not loaded"));
  world.restart(true);
  world.resize("train", 1);
  EXPECT_THAT(world.slices("next"), ElementsAre("admitted 2"));
}

TEST(Off, WhatIsStoredWithBothAnnotationsGoesOnWhenThePluginComes) {
  ElasticWorld world;
  world.queue("2", "0");
  world.restart(false);
  world.submit(
      ElasticWorld::job_text("train", 3, std::string(ElasticWorld::kElastic) + "," + kMin));
  EXPECT_THAT(world.running("train"), SizeIs(2)) << "partially admitted";
  world.restart(true);
  world.run_pods();
  EXPECT_THAT(world.running("train"), SizeIs(2));
  world.drop("jobs", "train");
  world.run_pods();
  EXPECT_THAT(world.names("workloads"), IsEmpty());
}

// ---- RayCluster

std::string ray() {
  const std::string pod =
      R"("template":{"spec":{"terminationGracePeriodSeconds":0,
        "containers":[{"name":"r","image":"i",
        "resources":{"requests":{"cpu":"1"}}}]}})";
  const auto group = [&](const std::string& name, int replicas) {
    return R"({"groupName":")" + name + R"(","replicas":)" + std::to_string(replicas) +
           R"(,"minReplicas":0,"maxReplicas":9,"rayStartParams":{},)" + pod + "}";
  };
  return R"({"metadata":{"name":"ray","labels":{"kueue.x-k8s.io/queue-name":"lq"},
             "annotations":{)" +
         std::string(ElasticWorld::kElastic) +
         R"(}},"spec":{"enableInTreeAutoscaling":true,"autoscalerOptions":{"resources":{}},)"
         R"("headGroupSpec":{"rayStartParams":{},)" +
         pod + R"(},"workerGroupSpecs":[)" + group("a", 1) + "," + group("b", 2) + "," +
         group("c", 1) + "]}}";
}

// As every job whose pods change it would be stopped with each step of its own autoscaler.
TEST(Written, AClusterThatScalesItselfIsElastic) {
  ElasticWorld world;
  std::string rigid = ray();
  const std::string elastic(ElasticWorld::kElastic);
  rigid.replace(rigid.find(elastic), elastic.size(), "");
  EXPECT_THAT(world.send(WriteVerb::kCreate, "rayclusters", "", rigid),
              HasSubstr("spec.enableInTreeAutoscaling"));
  const std::string label = R"("kueue.x-k8s.io/queue-name":"lq")";
  std::string unqueued = rigid;
  unqueued.replace(unqueued.find(label), label.size(), "");
  EXPECT_EQ(world.send(WriteVerb::kCreate, "rayclusters", "", unqueued), "");
}

void scale(ElasticWorld& world, int a, int b, int c) {
  auto groups =
      world.get("rayclusters", "default/ray").at("spec").at("workerGroupSpecs").as_array();
  const int sizes[] = {a, b, c};
  for (std::size_t i = 0; i < 3; ++i) groups[i].as_object()["replicas"] = sizes[i];
  world.change("rayclusters", "ray",
               json::serialize(json::object{{"spec", json::object{{"workerGroupSpecs", groups}}}}));
  world.run_pods();
}

TEST(Ray, GroupsScaleEachAlone) {
  ElasticWorld world;
  world.queue("9", "0");
  ASSERT_EQ(world.send(WriteVerb::kCreate, "rayclusters", "", ray()), "");
  world.run_pods();
  EXPECT_THAT(world.slices("ray"), ElementsAre("admitted 1/1/2/1"));
  EXPECT_THAT(world.running("ray"), SizeIs(5));
  const auto a = world.running("ray", "a");
  const auto b = world.running("ray", "b");
  const auto head = world.running("ray", "head");
  scale(world, 3, 2, 1);
  EXPECT_THAT(world.slices("ray"),
              ElementsAre("WorkloadSliceReplaced 1/1/2/1", "admitted 1/3/2/1"));
  EXPECT_THAT(world.running("ray", "a"), IsSupersetOf(a));
  EXPECT_EQ(world.running("ray", "b"), b);
  // 7 of 9 are used: c of 5 needs 4 more, and b gives 1 back at once.
  scale(world, 3, 1, 5);
  EXPECT_EQ(world.cpus(), 6);
  EXPECT_THAT(world.slices("ray"), Contains("admitted 1/3/1/1"));
  EXPECT_THAT(world.slices("ray"), Contains("pending 1/3/1/5"));
  EXPECT_THAT(world.running("ray", "b"), SizeIs(1));
  EXPECT_THAT(world.running("ray", "c"), SizeIs(1));
  EXPECT_EQ(world.gated("ray"), 4u);
  scale(world, 2, 1, 5);  // a gives back what c still lacks
  EXPECT_THAT(world.slices("ray"), Contains("admitted 1/2/1/5"));
  EXPECT_THAT(world.running("ray", "c"), SizeIs(5));
  EXPECT_EQ(world.running("ray", "head"), head);
  EXPECT_EQ(world.cpus(), 9);
}

TEST(Ray, TheAutoscalerSaysWhoGoes) {
  ElasticWorld world;
  world.queue("9", "0");
  ASSERT_EQ(world.send(WriteVerb::kCreate, "rayclusters", "", ray()), "");
  world.run_pods();
  std::vector<ElasticWorld::Pod> of_b;
  for (const auto& pod : world.pods("ray"))
    if (pod.set == "b") of_b.push_back(pod);
  ASSERT_THAT(of_b, SizeIs(2));
  auto groups =
      world.get("rayclusters", "default/ray").at("spec").at("workerGroupSpecs").as_array();
  groups[1].as_object()["replicas"] = 1;
  groups[1].as_object()["scaleStrategy"] =
      json::object{{"workersToDelete", json::array{of_b[0].name}}};
  world.change("rayclusters", "ray",
               json::serialize(json::object{{"spec", json::object{{"workerGroupSpecs", groups}}}}));
  world.run_pods();
  EXPECT_THAT(world.running("ray", "b"), ElementsAre(of_b[1].uid));
  EXPECT_EQ(world.cpus(), 4);
}

// ---- cost

/// Counts the writes of each object.
class Writes final : public Controller {
 public:
  std::string_view name() const override { return "writes"; }
  std::vector<std::string> watches() const override {
    return {"batch/Job", "/Pod", "kueue.x-k8s.io/Workload"};
  }
  void changed(const ObjectChange& change, std::vector<WorkKey>&) override {
    ++of[change.kind->kind + " " + change.key];
  }
  Result<Time> reconcile(const WorkKey&, ObjectAccess&) override { return kNever; }
  std::map<std::string, int> of;
};

TEST(Cost, ManyJobsResizedAtOnceAreWrittenOncePerState) {
  const int jobs = 100;
  ElasticWorld world;
  world.queue(std::to_string(3 * jobs), "0");
  for (int i = 0; i < jobs; ++i)
    ASSERT_EQ(world.send(WriteVerb::kCreate, "jobs", "",
                         ElasticWorld::job_text("j" + std::to_string(i), 2)),
              "");
  world.run_pods();
  ASSERT_EQ(world.cpus(), 2 * jobs);
  const auto old_slices = world.names("workloads");
  const auto old_pods = world.names("pods");
  Writes writes;
  world.life().controllers.add(writes);
  for (int i = 0; i < jobs; ++i) {
    WriteRequest request;
    request.verb = WriteVerb::kPatch;
    request.kind = &world.kind("jobs");
    request.version = "v1";
    request.ns = "default";
    request.name = "j" + std::to_string(i);
    request.body = json::parse(R"({"spec":{"parallelism":3}})");
    ASSERT_TRUE(world.life().machine.write(std::move(request)));
  }
  world.settle();
  EXPECT_EQ(world.cpus(), 3 * jobs);
  EXPECT_THAT(world.names("workloads"), SizeIs(2 * jobs));
  std::vector<int> ended, made, started, untouched, of_jobs;
  for (const auto& name : world.names("workloads")) {
    const bool old = std::find(old_slices.begin(), old_slices.end(), name) != old_slices.end();
    (old ? ended : made).push_back(writes.of["Workload default/" + name]);
  }
  for (const auto& name : world.names("pods")) {
    const bool old = std::find(old_pods.begin(), old_pods.end(), name) != old_pods.end();
    (old ? untouched : started).push_back(writes.of["Pod default/" + name]);
  }
  for (const auto& name : world.names("jobs")) of_jobs.push_back(writes.of["Job default/" + name]);
  EXPECT_THAT(ended, Each(1)) << "finished";
  EXPECT_THAT(made, Each(Le(3))) << "made; admitted; its pods are not ready yet";
  EXPECT_THAT(started, Each(Le(2))) << "made behind its gate; let go";
  EXPECT_THAT(untouched, Each(0));
  EXPECT_THAT(of_jobs, Each(Le(3))) << "resized; one more pod; runs by another slice";
}

}  // namespace
}  // namespace elastic::test
