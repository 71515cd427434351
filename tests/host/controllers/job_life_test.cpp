// What happens to a running job from outside: pods that do not come, stopped queues, people.
#include "tests/host/controllers/job_world.hpp"

#include "host/controllers/status/decision_events.hpp"

namespace sluice::host::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

EngineConfig waits_for_pods(std::optional<std::int32_t> limit = {}) {
  EngineConfig config;
  config.pods_ready_timeout = 100 * kSecond;
  config.pods_recovery_timeout = 30 * kSecond;
  config.requeue.backoff_base = 10 * kSecond;
  config.requeue.backoff_limit = limit;
  return config;
}

TEST(WaitForPodsReady, AJobWhosePodsDoNotComeIsEvictedAndComesBackLater) {
  JobWorld world(nullptr, nullptr, waits_for_pods());
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string name = world.only_workload();
  world.status("jobs", "train", R"({"active":2,"ready":1})");
  world.pass(99 * kSecond);
  EXPECT_TRUE(world.runs("train"));
  world.pass(kSecond);
  EXPECT_FALSE(world.runs("train"));
  const std::string message = "Exceeded the PodsReady timeout default/" + name;
  EXPECT_EQ(world.condition(name, "Evicted"), "True PodsReadyTimeout: " + message);
  EXPECT_EQ(world.condition(name, "Requeued"), "False PodsReadyTimeout: " + message);
  EXPECT_EQ(world.condition(name, "QuotaReserved"),
            "False Pending: The workload waits for its requeue backoff");
  EXPECT_THAT(world.log.lines, Contains("Job Stopped: " + message));
  const auto workload = world.workload(name);
  EXPECT_EQ(at(workload, "/status/requeueState/count"), "1");
  EXPECT_EQ(at(workload, "/status/requeueState/requeueAt"), "2026-01-01T00:01:50Z");
  EXPECT_EQ(at(workload, "/status/schedulingStats/evictions/0/underlyingCause"), "WaitForStart");
  world.status("jobs", "train", R"({"active":0})");
  EXPECT_FALSE(world.runs("train")) << "it waits";
  world.pass(10 * kSecond);
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.condition(name, "Requeued"),
            "True BackoffFinished: The workload backoff was finished");
  EXPECT_EQ(world.condition(name, "Evicted"), "False QuotaReserved: Previously: " + message);
}

TEST(WaitForPodsReady, PastTheLimitTheJobStaysStopped) {
  JobWorld world(nullptr, nullptr, waits_for_pods(0));
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string name = world.only_workload();
  world.pass(100 * kSecond);
  EXPECT_FALSE(world.runs("train"));
  EXPECT_EQ(at(world.workload(name), "/spec/active"), "false");
  EXPECT_EQ(world.condition(name, "Evicted"),
            "True DeactivatedDueToRequeuingLimitExceeded: The workload is deactivated due to "
            "exceeding the maximum number of re-queuing retries");
  EXPECT_EQ(world.condition(name, "DeactivationTarget"), "(absent)") << "that is past";
  world.change("workloads", name, R"({"spec":{"active":true}})");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.condition(name, "Requeued"), "True Reactivated: The workload was reactivated");
}

TEST(WaitForPodsReady, LostPodsHaveTheTimeOfRecovery) {
  JobWorld world(nullptr, nullptr, waits_for_pods());
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string name = world.only_workload();
  world.status("jobs", "train", R"({"active":2,"ready":2})");
  world.pass(200 * kSecond);
  world.status("jobs", "train", R"({"active":2,"ready":1})");
  EXPECT_THAT(world.condition(name, "PodsReady"), StartsWith("False WaitForRecovery"));
  world.status("jobs", "train", R"({"active":2,"ready":2})");
  EXPECT_THAT(world.condition(name, "PodsReady"), StartsWith("True Recovered"));
  world.status("jobs", "train", R"({"active":2,"ready":1})");
  world.pass(29 * kSecond);
  EXPECT_TRUE(world.runs("train"));
  world.pass(kSecond);
  EXPECT_FALSE(world.runs("train"));
  EXPECT_THAT(world.condition(name, "Evicted"), StartsWith("True PodsReadyTimeout"));
}

TEST(WaitForPodsReady, BlockedAdmissionGoesOnWithThePods) {
  EngineConfig config = waits_for_pods();
  config.block_admission = true;
  JobWorld world(nullptr, nullptr, config);
  world.submit(JobWorld::job("a", 1, JobWorld::queued()));
  world.submit(JobWorld::job("b", 1, JobWorld::queued()));
  EXPECT_TRUE(world.runs("a"));
  EXPECT_FALSE(world.runs("b"));
  EXPECT_EQ(world.condition(world.workloads()[1], "QuotaReserved"),
            "False WaitingForPodsReady: waiting for all admitted workloads to be in PodsReady "
            "condition");
  world.status("jobs", "a", R"({"active":1,"ready":1})");
  EXPECT_TRUE(world.runs("b"));
}

TEST(Job, ThatAUserSuspendsStartsAgain) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  world.status("jobs", "train", R"({"active":2})");
  world.change("jobs", "train", R"({"spec":{"suspend":true}})");
  EXPECT_FALSE(world.runs("train")) << "its pods are still there";
  world.status("jobs", "train", R"({"active":0})");
  EXPECT_TRUE(world.runs("train")) << "its workload is admitted";
  EXPECT_EQ(world.size_of_nodes("train"), "small");
}

TEST(Job, StopsAndGoesOnWithItsWorkload) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string name = world.only_workload();
  world.change("workloads", name, R"({"spec":{"active":false}})");
  EXPECT_FALSE(world.runs("train"));
  EXPECT_EQ(world.condition(name, "Evicted"), "True Deactivated: The workload is deactivated");
  EXPECT_THAT(world.log.lines, Contains("Job Stopped: The workload is deactivated"));
  world.change("workloads", name, R"({"spec":{"active":true}})");
  EXPECT_TRUE(world.runs("train"));
}

TEST(Job, ThatRanBeforeStartsWithWhatItsNewAdmissionSays) {
  JobWorld world;
  world.submit(JobWorld::job("train", 2, JobWorld::queued()));
  const std::string name = world.only_workload();
  world.status("jobs", "train", R"({"active":2,"startTime":"2026-01-01T00:00:00Z"})");
  world.change("workloads", name, R"({"spec":{"active":false}})");
  world.status("jobs", "train", R"({"active":0,"startTime":"2026-01-01T00:00:00Z"})");
  world.change("workloads", name, R"({"spec":{"active":true}})");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.size_of_nodes("train"), "small");
  EXPECT_EQ(world.job_at("train", "/status/startTime"), "(absent)");
}

TEST(Job, StopPoliciesOfQueues) {
  struct Case {
    const char* resource;
    const char* queue;
    const char* policy;
    bool stays;
    const char* evicted;
    const char* restarted;
  };
  const Case cases[] = {
      {"clusterqueues", "cq", "Hold", true, "(absent)", "(absent)"},
      {"clusterqueues", "cq", "HoldAndDrain", false,
       "True ClusterQueueStopped: The ClusterQueue is stopped",
       "True ClusterQueueRestarted: The ClusterQueue was restarted after being stopped"},
      {"localqueues", "lq", "Hold", true, "(absent)", "(absent)"},
      {"localqueues", "lq", "HoldAndDrain", false,
       "True LocalQueueStopped: The LocalQueue is stopped",
       "True LocalQueueRestarted: The LocalQueue was restarted after being stopped"},
  };
  for (const Case& c : cases) {
    JobWorld world;
    world.submit(JobWorld::job("train", 2, JobWorld::queued()));
    const std::string name = world.only_workload();
    const auto stop = [&](const std::string& policy) {
      world.change(c.resource, c.queue, R"({"spec":{"stopPolicy":")" + policy + "\"}}");
    };
    stop(c.policy);
    EXPECT_EQ(world.runs("train"), c.stays) << c.resource << " " << c.policy;
    world.submit(JobWorld::job("next", 1, JobWorld::queued()));
    EXPECT_FALSE(world.runs("next"));
    EXPECT_EQ(world.condition(name, "Evicted"), c.evicted);
    stop("None");
    EXPECT_TRUE(world.runs("train"));
    EXPECT_TRUE(world.runs("next"));
    EXPECT_EQ(world.condition(name, "Requeued"), c.restarted);
  }
}

TEST(Job, SaysWhyItsQueueDoesNotTakeIt) {
  struct Case {
    const char* what;
    std::string resource, name, patch, reason;
  };
  const Case cases[] = {
      {"stopped", "localqueues", "lq", R"({"spec":{"stopPolicy":"Hold"}})",
       "False Suspended: LocalQueue lq is stopped"},
      {"stopped above", "clusterqueues", "cq", R"({"spec":{"stopPolicy":"Hold"}})",
       "False Suspended: ClusterQueue cq is stopped"},
      {"selector", "clusterqueues", "cq",
       R"({"spec":{"namespaceSelector":{"matchLabels":{"team":"x"}}}})",
       "False Misconfigured: Workload namespace doesn't match ClusterQueue selector"},
  };
  for (const Case& c : cases) {
    JobWorld world;
    world.change(c.resource, c.name, c.patch);
    world.submit(JobWorld::job("train", 1, JobWorld::queued()));
    EXPECT_FALSE(world.runs("train")) << c.what;
    EXPECT_EQ(world.condition(world.only_workload(), "QuotaReserved"), c.reason);
  }
  JobWorld world;
  world.submit(JobWorld::job("train", 1, JobWorld::queued("nowhere")));
  EXPECT_EQ(world.condition(world.only_workload(), "QuotaReserved"),
            "False Misconfigured: LocalQueue nowhere doesn't exist");
}

TEST(Job, WithoutAQueueIsHeldWhereAllAreManaged) {
  ManagedJobs managed;
  managed.without_queue = true;
  JobWorld world(nullptr, nullptr, {}, managed);
  world.submit(JobWorld::job("own", 1, ""));
  EXPECT_FALSE(world.runs("own"));
  const std::string name = world.only_workload();
  EXPECT_EQ(world.condition(name, "QuotaReserved"),
            "False Misconfigured: The workload names no LocalQueue");
  world.change("jobs", "own", R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"lq"}}})");
  EXPECT_TRUE(world.runs("own"));
  EXPECT_EQ(world.only_workload(), name);
}

TEST(Job, LabelsThatAreNamedAreThoseOfItsWorkload) {
  ManagedJobs managed;
  managed.copied_labels = {"cost-center", "none", "kueue.x-k8s.io/is-group-workload"};
  JobWorld world(nullptr, nullptr, {}, managed);
  world.submit(
      JobWorld::job("train", 1, JobWorld::queued() + R"(,"cost-center":"7","kept":"here")"));
  const boost::json::object workload = world.workload(world.only_workload());
  const boost::json::object& labels = part(part(workload, "metadata"), "labels");
  EXPECT_EQ(labels.size(), 2U);  // and the job's UID
  EXPECT_EQ(api::find_text(labels, "cost-center"), "7");
  EXPECT_NE(api::find_text(labels, "kueue.x-k8s.io/job-uid"), "");
}

TEST(Job, WithoutAQueueIsHeldInTheNamespacesThatAreNamed) {
  ManagedJobs managed;
  managed.without_queue = true;
  managed.namespaces = {{}, {{"team", api::LabelSelector::Operator::kExists, {}}}};
  JobWorld world(nullptr, nullptr, {}, managed);
  world.submit(JobWorld::job("first", 1, ""));
  EXPECT_EQ(world.workloads(), std::vector<std::string>());
  world.change("namespaces", "default", R"({"metadata":{"labels":{"team":"a"}}})");
  world.submit(JobWorld::job("second", 1, ""));
  EXPECT_FALSE(world.runs("second"));
  EXPECT_THAT(world.workloads(), ElementsAre(StartsWith("job-second-")));
}

// One that comes later might come after the admission.
TEST(Job, GatesAreOnlyTakenAway) {
  JobWorld world;
  constexpr const char* kGates = R"("kueue.x-k8s.io/admission-gated-by":)";
  world.submit(JobWorld::job("train", 1, JobWorld::queued(), std::string(kGates) + R"("a,b")"));
  EXPECT_FALSE(world.runs("train"));
  const auto gated = [&](const char* gates) {
    const auto done = world.merge(
        "jobs", "train", R"({"metadata":{"annotations":{)" + std::string(kGates) + gates + "}}}");
    return done ? "" : done.error().text;
  };
  EXPECT_THAT(gated(R"("a,c")"), HasSubstr("gates may be added only when the object is created"));
  EXPECT_EQ(gated(R"("b")"), "");
  world.settle();
  EXPECT_EQ(world.condition(world.only_workload(), "QuotaReserved"),
            "False AdmissionGated: Admission is gated by: b");
  EXPECT_EQ(gated("null"), "");
  world.settle();
  EXPECT_TRUE(world.runs("train"));
}

// Who takes one off the workload opens it, whatever the job says; nothing else is held up by that.
TEST(Job, GatesOfAWorkloadAreTakenAwayThere) {
  JobWorld world;
  constexpr const char* kGates = R"("kueue.x-k8s.io/admission-gated-by":)";
  world.submit(
      JobWorld::job("train", 1, JobWorld::queued("nowhere"), std::string(kGates) + R"("a,b")"));
  const std::string name = world.only_workload();
  for (const char* left : {R"("b,")", "null"})
    world.change("workloads", name,
                 R"({"metadata":{"annotations":{)" + std::string(kGates) + left + "}}}");
  world.change("jobs", "train", R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"lq"}}})");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.only_workload(), name);
}

// A namespace that is left out is left alone: neither its queues nor one of the name `default`
// count, and what waited there loses its workload.
TEST(Job, OfANamespaceThatIsLeftOutRunsWhateverItNames) {
  ManagedJobs managed;
  managed.namespaces = {{}, {{"team", api::LabelSelector::Operator::kExists, {}}}};
  JobWorld world(nullptr, nullptr, {}, managed);
  for (const std::string& queue :
       {JobWorld::queued(), JobWorld::queued("nowhere"), std::string()}) {
    world.submit(JobWorld::job("first", 1, queue));
    EXPECT_TRUE(world.runs("first")) << queue;
    EXPECT_EQ(world.workloads(), std::vector<std::string>());
    // Nor are its changes judged as those of a job that runs on quota.
    world.change("jobs", "first",
                 R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"other"},"annotations":{
                     "kueue.x-k8s.io/admission-gated-by":"late"}}})");
    ASSERT_TRUE(world.remove("jobs", "first").ok());
  }
  world.change("namespaces", "default", R"({"metadata":{"labels":{"team":"a"}}})");
  world.submit(JobWorld::job("second", 1, JobWorld::queued("nowhere")));
  EXPECT_THAT(world.workloads(), ElementsAre(StartsWith("job-second-")));
  world.change("namespaces", "default", R"({"metadata":{"labels":{"team":null}}})");
  world.change("jobs", "second", R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(world.workloads(), std::vector<std::string>());
  EXPECT_FALSE(world.runs("second"));
}

TEST(Job, TheTimeLimitTellsWhy) {
  JobWorld world;
  DecisionEvents events(world.scheme, world.kernel.engine(), world.objects);
  world.observe(events);
  world.submit(JobWorld::job(
      "train", 1, JobWorld::queued() + R"(,"kueue.x-k8s.io/max-exec-time-seconds":"60")"));
  const std::string name = world.only_workload();
  world.pass(60 * kSecond);
  EXPECT_EQ(world.condition(name, "Evicted"),
            "True DeactivatedDueToMaximumExecutionTimeExceeded: The workload is deactivated due to "
            "exceeding the maximum execution time");
  EXPECT_THAT(world.log.lines,
              Contains("Workload MaximumExecutionTimeExceeded: The maximum execution time (60s) "
                       "exceeded"));
  EXPECT_THAT(
      world.log.lines,
      Contains("Workload EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded: The workload "
               "is deactivated due to exceeding the maximum execution time"));
}

// A manager of several clusters says so at one of them. What else is said of conditions is the
// system's.
TEST(Job, WhoSaysInTheStatusThatItIsToBeOffTurnsItOff) {
  JobWorld world;
  world.submit(JobWorld::job("train", 1, JobWorld::queued()));
  const std::string name = world.only_workload();
  ASSERT_TRUE(world.runs("train"));
  ASSERT_TRUE(world.merge("workloads", name, R"({"status":{"conditions":
      [{"type":"DeactivationTarget","status":"True","reason":"EvictedOnManagerCluster",
        "message":"Evicted on manager","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                          "status"));
  world.settle();
  EXPECT_FALSE(world.runs("train"));
  EXPECT_EQ(at(world.workload(name), "/spec/active"), "false");
  EXPECT_EQ(world.condition(name, "Evicted"),
            "True DeactivatedDueToEvictedOnManagerCluster: The workload is deactivated due to "
            "Evicted on manager");
  EXPECT_EQ(world.condition(name, "DeactivationTarget"), "(absent)");
}

TEST(Job, AStoppedOneKeepsTheTimeItRan) {
  JobWorld world;
  world.submit(JobWorld::job(
      "train", 1, JobWorld::queued() + R"(,"kueue.x-k8s.io/max-exec-time-seconds":"60")"));
  world.pass(40 * kSecond);
  world.change("clusterqueues", "cq", R"({"spec":{"stopPolicy":"HoldAndDrain"}})");
  EXPECT_EQ(
      at(world.workload(world.only_workload()), "/status/accumulatedPastExecutionTimeSeconds"),
      "40");
  world.change("clusterqueues", "cq", R"({"spec":{"stopPolicy":"None"}})");
  EXPECT_TRUE(world.runs("train"));
  world.pass(19 * kSecond);
  EXPECT_TRUE(world.runs("train"));
  world.pass(kSecond);
  EXPECT_FALSE(world.runs("train"));
}

/// A pod that succeeded is ready no more, and is counted a moment later: meanwhile it is among
/// those that are not counted yet.
TEST(JobPods, AreReadyOrSucceededCountedOrNot) {
  const api::Scheme scheme;
  const api::JobKind& kind = *scheme.find("batch/v1", "Job")->job;
  const struct {
    const char* status;
    bool ready;
  } rows[] = {
      {R"({"ready":2})", true},
      {R"({"ready":1})", false},
      {R"({"ready":1,"succeeded":1})", true},
      {R"({"ready":1,"uncountedTerminatedPods":{"succeeded":["uid"]}})", true},
      {R"({"ready":1,"uncountedTerminatedPods":{"failed":["uid"]}})", false},
  };
  for (const auto& row : rows) {
    const boost::json::object job{{"spec", {{"parallelism", 2}}},
                                  {"status", boost::json::parse(row.status)}};
    EXPECT_EQ(kind.pods_ready(job, 2), row.ready) << row.status;
  }
}

}  // namespace
}  // namespace sluice::host::test
