// The life of a queued job, with the real engine: from its creation to its end.
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kHigh = R"({"apiVersion":"kueue.x-k8s.io/v1beta2",
    "kind":"WorkloadPriorityClass","metadata":{"name":"high"},"value":100})";

std::string prioritized(const std::string& name) {
  return JobWorld::queued() + R"(,"kueue.x-k8s.io/priority-class":")" + name + "\"";
}

TEST(Job, RunsOnceItsWorkloadIsAdmitted) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string name = world.only_workload();
  const auto workload = world.workload(name);
  EXPECT_THAT(name, StartsWith("job-train-"));
  EXPECT_EQ(at(workload, "/metadata/ownerReferences/0/kind"), "Job");
  EXPECT_EQ(at(workload, "/metadata/ownerReferences/0/controller"), "true");
  EXPECT_EQ(at(workload, "/metadata/labels/kueue.x-k8s.io~1job-uid"),
            world.job_at("train", "/metadata/uid"));
  EXPECT_EQ(at(workload, "/spec/queueName"), "lq");
  EXPECT_EQ(at(workload, "/spec/podSets/0/name"), "main");
  EXPECT_EQ(at(workload, "/spec/podSets/0/count"), "2");
  EXPECT_EQ(at(workload, "/spec/podSets/0/template/metadata/labels"),
            R"({"batch.kubernetes.io/job-name":"train"})");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.size_of_nodes("train"), "small");
  EXPECT_EQ(world.job_at("train", "/spec/template/spec/tolerations/0/key"), "spot");
  EXPECT_EQ(world.job_at("train", "/spec/template/metadata/labels/kueue.x-k8s.io~1podset"), "main");
  EXPECT_THAT(world.log.lines, ElementsAre("Job CreatedWorkload: Created Workload: default/" + name,
                                           "Job Started: Admitted by clusterQueue cq"));
}

TEST(Job, WithoutAQueueIsLeftAlone) {
  JobWorld world;
  world.submit(JobWorld::job("own", 2, ""));
  EXPECT_TRUE(world.runs("own"));
  EXPECT_THAT(world.workloads(), IsEmpty());
}

TEST(Job, WaitsSuspendedWhileThereIsNoRoom) {
  JobWorld world;
  world.submit(JobWorld::job("big", 9, JobWorld::queued()));
  EXPECT_FALSE(world.runs("big"));
  EXPECT_THAT(world.condition(world.only_workload(), "QuotaReserved"), StartsWith("False "));
  world.change("jobs", "big", R"({"spec":{"suspend":false}})");
  EXPECT_FALSE(world.runs("big")) << "a user cannot start it";
}

// Made with its workload in one look; that this waits, and for what, is nothing to the job.
TEST(Job, IsLookedAtOnceWhileItWaits) {
  JobWorld world;
  const auto looks = [&] { return world.controllers.reconciles(); };
  const std::uint64_t before = looks();
  world.submit(JobWorld::job("big", 12, JobWorld::queued()));
  EXPECT_THAT(world.condition(world.only_workload(), "QuotaReserved"), StartsWith("False "));
  EXPECT_EQ(looks() - before, 1U);
}

TEST(Job, EndsItsWorkload) {
  struct Case {
    const char* status;
    const char* expected;
  };
  for (const auto& [status, expected] :
       {Case{R"({"succeeded":2,"conditions":[{"type":"Complete","status":"True",
                "message":"Reached expected number of succeeded pods"}]})",
             "True Succeeded: Reached expected number of succeeded pods"},
        Case{R"({"failed":1,"conditions":[{"type":"Failed","status":"True",
                "message":"Job has reached the specified backoff limit"}]})",
             "True Failed: Job has reached the specified backoff limit"}}) {
    JobWorld world;
    world.submit(JobWorld::job("train", 3, JobWorld::queued()));
    world.submit(JobWorld::job("next", 9, JobWorld::queued()));
    const std::string name = world.workloads()[1];
    world.status("jobs", "train", status);
    EXPECT_EQ(world.condition(name, "Finished"), expected);
    EXPECT_THAT(world.log.lines, Contains("Job FinishedWorkload: Workload 'default/" + name +
                                          "' is declared finished"));
  }
}

TEST(Job, ThatWasEvictedStartsAgainOnlyWhenItsPodsHaveEnded) {
  JobWorld world;
  world.apply(kHigh);
  world.submit(
      JobWorld::job("low", 3, JobWorld::queued(), "", R"("nodeSelector":{"size":"small"},)"));
  EXPECT_TRUE(world.runs("low"));
  world.status("jobs", "low", R"({"active":3,"ready":3,"startTime":"2026-01-01T00:00:00Z"})");
  world.submit(
      JobWorld::job("high", 3, prioritized("high"), "", R"("nodeSelector":{"size":"small"},)"));
  EXPECT_TRUE(world.runs("high"));
  EXPECT_FALSE(world.runs("low"));
  EXPECT_THAT(world.log.lines, Contains(HasSubstr("Job Stopped: Preempted to accommodate")));
  EXPECT_EQ(world.job_at("low", "/spec/template/spec/tolerations"), "(absent)");
  EXPECT_EQ(world.size_of_nodes("low"), "small") << "its own selector stays";
  EXPECT_EQ(world.job_at("low", "/metadata/annotations"), "(absent)");

  world.status("jobs", "high", R"({"conditions":[{"type":"Complete","status":"True"}]})");
  EXPECT_FALSE(world.runs("low")) << "its old pods are still there";
  world.status("jobs", "low", R"({"active":0,"terminating":1})");
  EXPECT_FALSE(world.runs("low"));
  world.status("jobs", "low", R"({"active":0})");
  EXPECT_TRUE(world.runs("low"));
}

TEST(Job, GetsTheNodesOfItsNewFlavorAfterAnEviction) {
  JobWorld world;
  world.apply(kHigh);
  world.submit(JobWorld::job("low", 3, JobWorld::queued()));
  EXPECT_EQ(world.size_of_nodes("low"), "small");
  world.status("jobs", "low", R"({"startTime":"2026-01-01T00:00:01Z"})");
  // The flavor `small` has 3 CPUs: `high`, which fits nowhere else, takes them.
  world.submit(
      JobWorld::job("high", 3, prioritized("high"), "", R"("nodeSelector":{"size":"small"},)"));
  EXPECT_TRUE(world.runs("low"));
  EXPECT_EQ(world.size_of_nodes("low"), "large");
  EXPECT_EQ(world.job_at("low", "/spec/template/spec/tolerations"), "(absent)");
}

TEST(Job, WhoseWorkloadIsDeletedStopsAndGetsANewOne) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string uid = at(world.workload(world.only_workload()), "/metadata/uid");
  world.status("jobs", "train", R"({"active":2})");
  world.drop("workloads", world.only_workload());
  EXPECT_FALSE(world.runs("train")) << "its pods have not ended";
  EXPECT_EQ(world.size_of_nodes("train"), "(absent)");
  EXPECT_NE(at(world.workload(world.only_workload()), "/metadata/uid"), uid);
  world.status("jobs", "train", R"({"active":0})");
  EXPECT_TRUE(world.runs("train"));
}

TEST(Job, ThatIsDeletedTakesItsWorkloadAlong) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  world.drop("jobs", "train");
  EXPECT_THAT(world.workloads(), IsEmpty());
}

TEST(Job, ThatChangesWhileItWaitsChangesItsWorkload) {
  JobWorld world;
  world.submit(JobWorld::job("train", 9, JobWorld::queued()));
  const std::string name = world.only_workload();
  const std::string uid = at(world.workload(name), "/metadata/uid");
  world.change("jobs", "train", R"({"spec":{"parallelism":2,"completions":2}})");
  EXPECT_EQ(world.only_workload(), name);
  EXPECT_EQ(at(world.workload(name), "/metadata/uid"), uid);
  EXPECT_EQ(at(world.workload(name), "/spec/podSets/0/count"), "2");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_THAT(world.log.lines, Contains("Job UpdatedWorkload: Updated not matching Workload for "
                                        "suspended job: default/" +
                                        name));
}

TEST(Job, ThatChangesWhileItRunsStopsAndIsQueuedAnew) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string name = world.only_workload();
  world.status("jobs", "train", R"({"active":2})");
  world.change("jobs", "train", R"({"spec":{"parallelism":4,"completions":4}})");
  EXPECT_FALSE(world.runs("train"));
  EXPECT_EQ(at(world.workload(name), "/spec/podSets/0/count"), "4");
  EXPECT_THAT(world.log.lines,
              Contains("Job DeletedWorkload: Deleted not matching Workload: default/" + name));
  world.status("jobs", "train", R"({"active":0})");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.size_of_nodes("train"), "large");
}

TEST(Job, FollowsItsLabelsWhileItWaits) {
  JobWorld world;
  world.apply(kHigh);
  world.queue("other", "other", "1", "20");
  world.submit(JobWorld::job("train", 9, JobWorld::queued()));
  world.change("jobs", "train",
               R"({"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"high"}}})");
  const std::string name = world.only_workload();
  EXPECT_EQ(at(world.workload(name), "/spec/priority"), "100");
  EXPECT_EQ(at(world.workload(name), "/spec/priorityClassRef/name"), "high");
  world.change("jobs", "train", R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"other"}}})");
  EXPECT_EQ(at(world.workload(name), "/spec/queueName"), "other");
  EXPECT_TRUE(world.runs("train"));
}

TEST(Job, WithoutAQueueWaitsForNothing) {
  JobWorld world;
  world.submit(JobWorld::job("train", 9, JobWorld::queued()));
  ASSERT_EQ(world.workloads().size(), 1U);
  world.change("jobs", "train", R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":null}}})");
  EXPECT_THAT(world.workloads(), IsEmpty());
  EXPECT_FALSE(world.runs("train"));  // its user may resume it now
}

TEST(Job, WhoseQueueIsTakenWithItsQuotaHoldsThatUntilItHasEnded) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  world.status("jobs", "train", R"({"active":2})");
  // Its user ends it for good: suspended and out of the queue, in one write.
  world.change("jobs", "train", R"({"spec":{"suspend":true},
      "metadata":{"labels":{"kueue.x-k8s.io/queue-name":null}}})");
  EXPECT_EQ(world.workloads().size(), 1U);
  world.status("jobs", "train", R"({"active":0})");
  EXPECT_THAT(world.workloads(), IsEmpty());
  EXPECT_EQ(world.size_of_nodes("train"), "(absent)") << "it came with the admission";
}

TEST(Job, GetsThePriorityOfAnotherClassWhileItRuns) {
  JobWorld world;
  world.apply(kHigh);
  world.submit(JobWorld::job("train", 1, prioritized("high")));
  const std::string name = world.only_workload();
  // It keeps what it has until the class is there.
  world.change("jobs", "train",
               R"({"metadata":{"labels":{"kueue.x-k8s.io/priority-class":"low"}}})");
  EXPECT_EQ(at(world.workload(name), "/spec/priority"), "100");
  EXPECT_THAT(world.log.lines, Contains("Job WorkloadPriorityClassNotFound: "
                                        "WorkloadPriorityClass low doesn't exist"));
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
    "metadata":{"name":"low"},"value":-5})");
  world.settle();
  EXPECT_EQ(at(world.workload(name), "/spec/priority"), "-5");
  EXPECT_EQ(at(world.workload(name), "/spec/priorityClassRef/name"), "low");
  EXPECT_TRUE(world.runs("train"));
}

TEST(Job, PriorityComesFromTheFirstOfItsClasses) {
  struct Case {
    std::string labels, pod_spec, priority, kind;
  };
  const Case cases[] = {
      {prioritized("high"), R"("priorityClassName":"pods",)", "100", "WorkloadPriorityClass"},
      {JobWorld::queued(), R"("priorityClassName":"pods",)", "7", "PriorityClass"},
      {JobWorld::queued(), "", "3", "PriorityClass"},  // the global default
  };
  for (const Case& c : cases) {
    JobWorld world;
    world.apply(kHigh);
    world.apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
                    "metadata":{"name":"pods"},"value":7})");
    world.apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
                    "metadata":{"name":"all"},"value":3,"globalDefault":true})");
    world.submit(JobWorld::job("train", 1, c.labels, "", c.pod_spec));
    const auto workload = world.workload(world.only_workload());
    EXPECT_EQ(at(workload, "/spec/priority"), c.priority);
    EXPECT_EQ(at(workload, "/spec/priorityClassRef/kind"), c.kind);
  }
}

TEST(Job, WaitsForAPriorityClassThatDoesNotExistYet) {
  JobWorld world;
  world.submit(JobWorld::job("train", 1, prioritized("high")));
  EXPECT_THAT(world.workloads(), IsEmpty());
  EXPECT_THAT(world.log.lines, ElementsAre("Job WorkloadPriorityClassNotFound: "
                                           "WorkloadPriorityClass high doesn't exist"));
  world.apply(kHigh);
  world.settle();
  EXPECT_TRUE(world.runs("train"));
}

TEST(Job, StartsWithFewerPodsWhenItMayAndGetsThemBack) {
  JobWorld world;
  world.submit(
      JobWorld::job("other", 8, JobWorld::queued(), "", R"("nodeSelector":{"size":"large"},)"));
  world.submit(JobWorld::job("train", 5, JobWorld::queued(),
                             R"("kueue.x-k8s.io/job-min-parallelism":"2",
                                "kueue.x-k8s.io/job-completions-equal-parallelism":"true")"));
  const std::string name = world.workloads()[1];
  EXPECT_EQ(at(world.workload(name), "/spec/podSets/0/minCount"), "2");
  EXPECT_EQ(at(world.workload(name), "/status/admission/podSetAssignments/0/count"), "3");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.job_at("train", "/spec/parallelism"), "3");
  EXPECT_EQ(world.job_at("train", "/spec/completions"), "3");
  world.change("workloads", name, R"({"spec":{"active":false}})");
  EXPECT_FALSE(world.runs("train"));
  EXPECT_EQ(world.job_at("train", "/spec/parallelism"), "5");
  EXPECT_EQ(world.job_at("train", "/spec/completions"), "5");
}

TEST(Job, TellsItsWorkloadAboutPods) {
  JobWorld world;
  world.submit(JobWorld::job("train", 3, JobWorld::queued()));
  const std::string name = world.only_workload();
  EXPECT_EQ(world.condition(name, "PodsReady"),
            "False WaitForStart: Not all pods are ready or succeeded");
  world.status("jobs", "train", R"({"active":3,"ready":3})");
  EXPECT_THAT(world.condition(name, "PodsReady"), StartsWith("True Started"));
  world.status("jobs", "train", R"({"active":3,"ready":2})");
  EXPECT_THAT(world.condition(name, "PodsReady"), StartsWith("False WaitForRecovery"));
  world.status("jobs", "train", R"({"active":2,"ready":2,"succeeded":1})");
  EXPECT_THAT(world.condition(name, "PodsReady"), StartsWith("True Recovered"));
  EXPECT_EQ(at(world.workload(name), "/status/reclaimablePods/0/count"), "1");
}

/// With a backoffLimitPerIndex: 1 and 3 to 4 are not tried again, 0 succeeded, 2 runs.
TEST(Job, GivesBackTheQuotaOfIndexesThatFailedForGood) {
  JobWorld world;
  world.submit(JobWorld::job("train", 5, JobWorld::queued()));
  const std::string name = world.only_workload();
  world.status("jobs", "train", R"({"active":4,"failed":1,"succeeded":1,"failedIndexes":"1"})");
  EXPECT_EQ(at(world.workload(name), "/status/reclaimablePods/0/count"), "2");
  world.status("jobs", "train", R"({"active":1,"failed":3,"succeeded":1,"failedIndexes":"1,3-9"})");
  EXPECT_EQ(at(world.workload(name), "/status/reclaimablePods/0/count"), "4");
}

/// It had 6 completions: 4 and 5 succeeded, and are none of its indexes any more; 1 to 3 run.
TEST(Job, OfAnIndexedJobThatShrankOnlyTheIndexesThatAreLeftCount) {
  JobWorld world;
  world.apply(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train",
      "namespace":"default","labels":{)" +
              JobWorld::queued() +
              R"(}},"spec":{"completionMode":"Indexed","completions":4,"parallelism":4,"template":
      {"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  world.settle();
  const std::string name = world.only_workload();
  world.status("jobs", "train", R"({"active":3,"succeeded":3,"completedIndexes":"0,4-5"})");
  EXPECT_EQ(at(world.workload(name), "/status/reclaimablePods/0/count"), "1");
}

TEST(Job, GivesBackNoMoreThanItHasWhenItChangesWhileItWaits) {
  // 2 of its 3 pods are over, and it is stopped; with a parallelism of 2 it needs 1 as before.
  JobWorld world;
  world.submit(
      JobWorld::job("train", 3, JobWorld::queued(), R"("kueue.x-k8s.io/job-min-parallelism":"1")"));
  const std::string name = world.only_workload();
  world.status("jobs", "train", R"({"active":1,"ready":1,"succeeded":2})");
  EXPECT_EQ(at(world.workload(name), "/status/reclaimablePods/0/count"), "2");
  world.change("workloads", name, R"({"spec":{"active":false}})");
  world.status("jobs", "train", R"({"active":0,"ready":0,"succeeded":2})");
  world.change("jobs", "train", R"({"spec":{"parallelism":2}})");
  EXPECT_EQ(at(world.workload(name), "/spec/podSets/0/count"), "2");
  EXPECT_EQ(at(world.workload(name), "/status/reclaimablePods/0/count"), "1");
}

TEST(Job, QuotaOfSucceededPodsGoesToOthers) {
  JobWorld world;
  world.submit(
      JobWorld::job("train", 8, JobWorld::queued(), "", R"("nodeSelector":{"size":"large"},)"));
  world.submit(
      JobWorld::job("next", 2, JobWorld::queued(), "", R"("nodeSelector":{"size":"large"},)"));
  EXPECT_FALSE(world.runs("next"));
  world.status("jobs", "train", R"({"active":6,"ready":6,"succeeded":2})");
  EXPECT_TRUE(world.runs("next"));
}

TEST(Job, ItsTimeLimitIsThatOfItsLabel) {
  JobWorld world;
  world.submit(JobWorld::job(
      "train", 1, JobWorld::queued() + R"(,"kueue.x-k8s.io/max-exec-time-seconds":"60")"));
  EXPECT_TRUE(world.runs("train"));
  world.pass(60 * kSecond);
  EXPECT_FALSE(world.runs("train"));
  EXPECT_EQ(at(world.workload(world.only_workload()), "/spec/active"), "false");
}

TEST(Job, OfAQueuedJobRunsWithItsOwner) {
  JobWorld world;
  world.submit(JobWorld::job("parent", 9, JobWorld::queued()));
  const std::string uid = world.job_at("parent", "/metadata/uid");
  world.submit(JobWorld::child_of("parent", uid, "child", JobWorld::queued()));
  EXPECT_TRUE(world.runs("child"));
  EXPECT_EQ(world.workloads().size(), 1u);
}

/// A Job that says it is its parent's, made by this user; empty: by the system.
struct Child {
  const char* user;
  bool runs;
};
void PrintTo(const Child& child, std::ostream* out) {
  *out << (*child.user ? child.user : "the system");
}

struct ChildrenWhereAllJobsQueue : ::testing::TestWithParam<Child> {};

// Its parent has no queue either; but where all jobs are held, a reference that a user wrote lets
// none of them go.
TEST_P(ChildrenWhereAllJobsQueue, RunWithTheirParentWhenAControllerMadeThem) {
  JobWorld world(nullptr, nullptr, {}, {.without_queue = true});
  world.submit(JobWorld::job("parent", 1, ""));
  world.submit(JobWorld::child_of("parent", world.job_at("parent", "/metadata/uid"), "child"));
  world.submit(JobWorld::child_of("child", world.job_at("child", "/metadata/uid"), "grandchild"),
               GetParam().user);
  EXPECT_EQ(world.runs("grandchild"), GetParam().runs);
}

INSTANTIATE_TEST_SUITE_P(All, ChildrenWhereAllJobsQueue,
                         ::testing::Values(Child{"", true}, Child{"ann", false},
                                           Child{"system:serviceaccount:jobset-system:controller",
                                                 true},
                                           Child{"system:serviceaccount:default:mine", false},
                                           Child{"system:kube-controller-manager", true},
                                           Child{"system:anonymous", false}));

TEST(Job, OfADumpGoesOnRunning) {
  JobWorld world;
  const std::string uid = "0b7a2c6e-0000-4000-8000-000000000001";
  auto job = boost::json::parse(
      JobWorld::job("train", 2, JobWorld::queued(), "", R"("nodeSelector":{"size":"small"},)"));
  auto& template_spec = job.at("spec").at("template").at("spec").as_object();
  job.at("metadata").as_object()["uid"] = uid;
  auto original = template_spec;
  original.erase("nodeSelector");
  // Written below the policies, as a store that is taken over holds it.
  auto object = job.get_object();
  object["metadata"].as_object()["namespace"] = "default";
  object["status"] = {{"active", 2}, {"ready", 2}};
  const api::KindInfo& jobs = world.kind("jobs");
  ASSERT_TRUE(world.intake.validate(jobs, object, nullptr, {}).empty());
  world.kernel.commit(world.intake.encode(jobs, object));
  boost::json::object workload{
      {"apiVersion", "kueue.x-k8s.io/v1beta2"},
      {"kind", "Workload"},
      {"metadata",
       {{"name", "job-train-11111"},
        {"namespace", "default"},
        {"ownerReferences", boost::json::array{boost::json::object{{"apiVersion", "batch/v1"},
                                                                   {"kind", "Job"},
                                                                   {"name", "train"},
                                                                   {"uid", uid},
                                                                   {"controller", true}}}}}},
      {"spec",
       {{"queueName", "lq"},
        {"podSets", boost::json::array{boost::json::object{
                        {"name", "main"}, {"count", 2}, {"template", {{"spec", original}}}}}}}},
      {"status", boost::json::parse(R"({"admission":{"clusterQueue":"cq","podSetAssignments":[
          {"name":"main","count":2,"flavors":{"cpu":"small"},"resourceUsage":{"cpu":"2"}}]},
          "conditions":[
          {"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"",
           "lastTransitionTime":"2026-01-01T00:00:00Z"},
          {"type":"Admitted","status":"True","reason":"Admitted","message":"",
           "lastTransitionTime":"2026-01-01T00:00:00Z"}]})")}};
  world.apply(boost::json::serialize(workload));
  world.settle();
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.only_workload(), "job-train-11111");
  EXPECT_THAT(world.condition("job-train-11111", "PodsReady"), StartsWith("True"));
  world.change("workloads", "job-train-11111", R"({"spec":{"active":false}})");
  EXPECT_FALSE(world.runs("train"));
  EXPECT_EQ(world.size_of_nodes("train"), "(absent)") << "it came with the admission";
}

// An API server takes them in a job, with a warning, and refuses them in a workload.
TEST(JobWorkload, OfVariablesOfOneNameTheLastOneCounts) {
  JobWorld world;
  world.apply(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"twice",
      "namespace":"default","labels":{)" +
              JobWorld::queued() +
              R"(}},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[
      {"name":"c","image":"i","env":[{"name":"A","value":"1"},{"name":"B","value":"2"},
      {"name":"A","value":"3"}]}]}}}})");
  world.settle();
  const auto workload = world.workload(world.only_workload());
  const std::string env = "/spec/podSets/0/template/spec/containers/0/env";
  EXPECT_EQ(at(workload, env + "/0/name"), "B");
  EXPECT_EQ(at(workload, env + "/1/value"), "3");
  EXPECT_EQ(at(workload, env + "/2"), "(absent)");
}

}  // namespace
}  // namespace sluice::host::test
