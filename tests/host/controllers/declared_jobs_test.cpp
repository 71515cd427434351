// Jobs of a kind that a page declares, in a host without processes: what their pods do is what the
// test says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/executor/jobs/declared_pods_controller.hpp"
#include "host/executor/pod_controller.hpp"
#include "host/objects/parts.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

constexpr const char* kTrainings = R"({"apiVersion":"sluice.dev/v1alpha1","kind":"JobKind",
  "metadata":{"name":"trainings.example.com"},"spec":{"group":"example.com","kind":"Training",
  "versions":["v1"],"podSets":[{"name":"driver","template":".spec.driver"},
    {"name":"worker","template":".spec.worker.template","count":".spec.worker.replicas ?? 1",
     "minCount":".spec.worker.least"}],
  "ready":[{"condition":"Running"}],"succeeded":[{"condition":"Complete"}],
  "failed":[{"condition":"Failed"}],"successfulPodSets":["driver"]}})";

/// More pods have to succeed than run at a time.
constexpr const char* kSweeps = R"page({"apiVersion":"sluice.dev/v1alpha1","kind":"JobKind",
  "metadata":{"name":"sweeps.example.com"},"spec":{"group":"example.com","kind":"Sweep",
  "versions":["v1"],"podSets":[{"name":"worker","template":".spec.template",
    "count":"min(.spec.parallelism, .spec.completions)","total":".spec.completions"}],
  "succeeded":[{"condition":"Complete"}],"failed":[{"condition":"Failed"}]}})page";

/// They serve, and are scaled.
constexpr const char* kServers = R"page({"apiVersion":"sluice.dev/v1alpha1","kind":"JobKind",
  "metadata":{"name":"servers.example.com"},"spec":{"group":"example.com","kind":"Server",
  "versions":["v1"],"podSets":[{"name":"worker","template":".spec.template",
    "count":".spec.replicas ?? 1"}],"ready":[{"condition":"Available"}]}})page";

json::object page(const char* text) { return json::parse(text).get_object(); }

struct Notes {  // a base: they are there before the machine
  int other_pages = 0;
};

struct DeclaredJobs : testing::Test, Notes, HostFixture {
  DeclaredJobs()
      : HostFixture(
            {}, nullptr, true, pages_of({page(kTrainings), page(kSweeps), page(kServers)}),
            [this] { ++other_pages; }, nullptr, true),
        pods_(scheme) {
    controllers.add(pods_);
    controllers.add(ends_);
    apply(kTrainings);
    apply(kSweeps);
    apply(kServers);
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"spot"},"spec":{"nodeLabels":{"node":"spot"}}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
              "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
              "flavors":[{"name":"spot","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
              "metadata":{"name":"lq","namespace":"default"},"spec":{"clusterQueue":"cq"}})");
  }
  void submit(const std::string& replicas, const std::string& more = "") {
    const std::string pod = R"({"spec":{"restartPolicy":"Never","containers":[{"name":"c",
        "image":"i","resources":{"requests":{"cpu":"1"}}}]}})";
    const auto done = create("trainings", R"({"metadata":{"name":"llm","labels":{
        "kueue.x-k8s.io/queue-name":"lq"}},"spec":{"driver":)" +
                                              pod + R"(,"worker":{"replicas":)" + replicas + more +
                                              R"(,"template":)" + pod + "}}}");
    ASSERT_TRUE(done) << done.error().text;
    kernel.run_to_rest();
  }
  std::vector<std::string> keys(std::string_view resource) {
    return static_cast<const ObjectAccess&>(objects).keys(kind(resource), "default");
  }
  /// `driver-0 worker-0 …`
  std::string pods() {
    std::string out;
    for (const std::string& key : keys("pods")) {
      const auto labels = get("pods", key).at("metadata").at("labels").as_object();
      out += (out.empty() ? "" : " ") + std::string(labels.at("sluice.dev/pod-set").as_string()) +
             "-" + std::string(labels.at("batch.kubernetes.io/job-completion-index").as_string());
    }
    return out;
  }
  void pods_are(const std::string& set, const std::string& status) {
    for (const std::string& key : keys("pods"))
      if (key.find("llm-" + set) != std::string::npos) {
        ASSERT_TRUE(merge("pods", key.substr(8), R"({"status":)" + status + "}", "status"));
      }
    kernel.run_to_rest();
  }
  std::string job(std::string_view pointer) { return at(get("trainings", "default/llm"), pointer); }
  std::string workload(std::string_view pointer) {
    return at(get("workloads", keys("workloads").at(0)), pointer);
  }
  std::string condition(std::string_view type) {
    const auto status = get("workloads", keys("workloads").at(0)).at("status").as_object();
    const auto* found = find_condition(status, type);
    return found ? at(*found, "/status") : "-";
  }

  DeclaredPodsController pods_;
  PodController ends_;
};

constexpr const char* kReady =
    R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})";

// One pod that fails is the end of the job; those that run on for their grace hold its quota.
TEST_F(DeclaredJobs, HoldQuotaUntilTheLastPodHasEnded) {
  submit("2");
  for (const std::string& key : keys("pods")) {
    auto bound = get("pods", key);
    bound["spec"].as_object()["nodeName"] = "n";
    ASSERT_TRUE(static_cast<ObjectAccess&>(objects).update(std::move(bound)));
  }
  pods_are("driver", kReady);
  pods_are("worker", kReady);
  pods_are("driver", R"({"phase":"Failed"})");
  EXPECT_EQ(job("/status/conditions/1/type"), "Failed");
  EXPECT_EQ(condition("Finished"), "-");
  EXPECT_EQ(condition("QuotaReserved"), "True");
  ASSERT_TRUE(
      merge("workloads", keys("workloads").at(0).substr(8), R"({"spec":{"active":false}})"));
  kernel.run_to_rest();
  EXPECT_EQ(condition("Evicted"), "True");
  EXPECT_EQ(condition("QuotaReserved"), "True");
  pods_are("worker", R"({"phase":"Failed"})");
  EXPECT_EQ(condition("Finished"), "True");
}

TEST_F(DeclaredJobs, RunAndSucceed) {
  submit("2");
  EXPECT_EQ(keys("workloads").at(0).substr(0, 21), "default/training-llm-");
  EXPECT_EQ(workload("/spec/podSets/1/count"), "2");
  EXPECT_EQ(job("/spec/suspend"), "false");
  EXPECT_EQ(job("/spec/worker/template/spec/nodeSelector/node"), "spot");
  EXPECT_EQ(pods(), "driver-0 worker-0 worker-1");
  EXPECT_EQ(condition("PodsReady"), "False");
  pods_are("", kReady);
  EXPECT_EQ(condition("PodsReady"), "True");
  EXPECT_EQ(job("/status/conditions/0/status"), "True");  // Running
  pods_are("driver", R"({"phase":"Succeeded"})");
  EXPECT_EQ(job("/status/conditions/1/type"), "Complete");  // the driver's end is the job's
  EXPECT_EQ(condition("Finished"), "True");
  EXPECT_EQ(workload("/status/conditions/3/reason"), "Succeeded");
  EXPECT_EQ(pods(), "driver-0");  // what still ran is removed
}

TEST_F(DeclaredJobs, APodThatFailsEndsTheJob) {
  submit("2");
  pods_are("worker-1", R"({"phase":"Failed","containerStatuses":[{"name":"c","ready":false,
      "restartCount":0,"image":"i","imageID":"","state":{"terminated":{"exitCode":3,
      "finishedAt":"2026-01-01T00:00:00Z"}}}]})");
  EXPECT_EQ(job("/status/conditions/0/type"), "Failed");
  EXPECT_THAT(job("/status/conditions/0/message"), HasSubstr("container c ended with 3"));
  EXPECT_EQ(condition("Finished"), "True");
  EXPECT_EQ(pods(), "worker-1");
}

TEST_F(DeclaredJobs, RunUntilAsManyPodsSucceededAsTheyWant) {
  const auto done = create("sweeps", R"({"metadata":{"name":"llm","labels":{
      "kueue.x-k8s.io/queue-name":"lq"}},"spec":{"parallelism":2,"completions":5,
      "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}}})");
  ASSERT_TRUE(done) << done.error().text;
  kernel.run_to_rest();
  const auto sweep = [&](std::string_view pointer) {
    return at(get("sweeps", "default/llm"), pointer);
  };
  EXPECT_EQ(workload("/spec/podSets/0/count"), "2");
  EXPECT_EQ(pods(), "worker-0 worker-1");
  pods_are("worker-0", R"({"phase":"Succeeded"})");
  EXPECT_EQ(pods(), "worker-0 worker-1 worker-2");
  EXPECT_EQ(sweep("/status/podSets/0/total"), "5");
  EXPECT_EQ(workload("/status/reclaimablePods"), "(absent)");  // the next one runs in its place
  pods_are("worker-1", R"({"phase":"Succeeded"})");
  pods_are("worker-2", R"({"phase":"Succeeded"})");
  EXPECT_EQ(pods(), "worker-0 worker-1 worker-2 worker-3 worker-4");
  EXPECT_EQ(condition("Finished"), "-");
  pods_are("worker-3", R"({"phase":"Succeeded"})");
  EXPECT_EQ(workload("/status/reclaimablePods/0/count"), "1");  // one is left, and runs
  EXPECT_EQ(condition("Finished"), "-");
  pods_are("worker-4", R"({"phase":"Succeeded"})");
  EXPECT_EQ(sweep("/status/conditions/0/type"), "Complete");
  EXPECT_EQ(condition("Finished"), "True");
}

// Three of four succeed and are deleted by their user: their quota is given back, so that one runs
// and not four.
TEST_F(DeclaredJobs, PodsThatSucceededAreNotMadeAnewWhenTheyAreDeleted) {
  submit("3");
  EXPECT_EQ(pods(), "driver-0 worker-0 worker-1 worker-2");
  pods_are("worker-0", R"({"phase":"Succeeded"})");
  pods_are("worker-1", R"({"phase":"Succeeded"})");
  EXPECT_EQ(workload("/status/reclaimablePods/0/count"), "2");
  for (const std::string& key : keys("pods"))
    if (key.find("llm-worker-0") != std::string::npos ||
        key.find("llm-worker-1") != std::string::npos) {
      ASSERT_TRUE(remove("pods", key.substr(8)));
    }
  kernel.run_to_rest();
  EXPECT_EQ(pods(), "driver-0 worker-2");
  EXPECT_EQ(job("/status/podSets/1/succeeded"), "2");
  pods_are("worker-2", R"({"phase":"Succeeded"})");
  pods_are("driver", R"({"phase":"Succeeded"})");
  EXPECT_EQ(condition("Finished"), "True");
}

/// What serves holds quota for the pods that it has, and without any it has no workload: there is
/// nothing to admit. A size at a time has a workload of its own, as when the size changes
/// otherwise.
TEST_F(DeclaredJobs, OneThatServesIsNotQueuedWhileItHasNoPods) {
  const auto done = create("servers", R"({"metadata":{"name":"llm","labels":{
      "kueue.x-k8s.io/queue-name":"lq"}},"spec":{"replicas":0,
      "template":{"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}}})");
  ASSERT_TRUE(done) << done.error().text;
  const auto server = [&](std::string_view pointer) {
    return at(get("servers", "default/llm"), pointer);
  };
  const auto scale = [&](int replicas) {
    EXPECT_TRUE(
        merge("servers", "llm", R"({"spec":{"replicas":)" + std::to_string(replicas) + "}}"));
    kernel.run_to_rest();
  };
  const auto has_nothing = [&] {
    EXPECT_TRUE(keys("workloads").empty());
    EXPECT_EQ(pods(), "");
    EXPECT_EQ(server("/spec/suspend"), "true");
    EXPECT_EQ(server("/spec/template/spec/nodeSelector"), "(absent)");
  };
  kernel.run_to_rest();
  has_nothing();
  scale(2);
  EXPECT_EQ(workload("/spec/podSets/0/count"), "2");
  EXPECT_EQ(condition("Admitted"), "True");
  EXPECT_EQ(pods(), "worker-0 worker-1");
  scale(0);
  has_nothing();
  scale(9);  // of 4 CPUs
  EXPECT_EQ(condition("QuotaReserved"), "False");
  EXPECT_EQ(pods(), "");
  scale(0);
  has_nothing();
  scale(3);
  EXPECT_EQ(condition("Admitted"), "True");
  EXPECT_EQ(pods(), "worker-0 worker-1 worker-2");
}

TEST_F(DeclaredJobs, StartWithFewerPodsAndAreStoppedAsTheyWere) {
  submit("9", R"(,"least":2)");
  EXPECT_EQ(job("/spec/worker/replicas"), "3");  // 4 CPUs, one is the driver's
  EXPECT_EQ(pods(), "driver-0 worker-0 worker-1 worker-2");
  // As it was sent at first, the number stays what there is quota for; another one is refused.
  ASSERT_TRUE(merge("trainings", "llm", R"({"spec":{"worker":{"replicas":9},"x":1}})"));
  const auto more = merge("trainings", "llm", R"({"spec":{"worker":{"replicas":50}}})");
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().text, HasSubstr("spec.worker.replicas: Forbidden: cannot change while"));
  kernel.run_to_rest();
  EXPECT_EQ(job("/spec/worker/replicas"), "3");
  EXPECT_EQ(job("/spec/x"), "1");
  EXPECT_EQ(pods(), "driver-0 worker-0 worker-1 worker-2");
  const std::string key = keys("workloads").at(0);
  ASSERT_TRUE(merge("workloads", key.substr(8), R"({"spec":{"active":false}})"));
  kernel.run_to_rest();
  EXPECT_EQ(pods(), "");
  EXPECT_EQ(job("/spec/suspend"), "true");
  EXPECT_EQ(job("/spec/worker/replicas"), "9");
  EXPECT_EQ(job("/spec/worker/template/spec/nodeSelector"), "(absent)");
  EXPECT_EQ(job("/status/podSets/1/active"), "0");
  ASSERT_TRUE(merge("workloads", key.substr(8), R"({"spec":{"active":true}})"));
  kernel.run_to_rest();
  EXPECT_EQ(pods(), "driver-0 worker-0 worker-1 worker-2");
}

TEST_F(DeclaredJobs, OneThatThePageCannotReadStaysHeldBackAndSaysWhy) {
  submit(R"("many")");
  EXPECT_TRUE(keys("workloads").empty());
  EXPECT_EQ(job("/spec/suspend"), "true");
  EXPECT_EQ(pods(), "");
  std::string told;
  for (const std::string& key : keys("events"))
    told += at(get("events", key), "/note") + at(get("events", key), "/message");
  EXPECT_THAT(told, HasSubstr("spec.worker.replicas is \"many\", which is no whole number"));
}

TEST_F(DeclaredJobs, ADeletedPageStaysUntilItsLastJobIsGone) {
  submit("1");
  EXPECT_EQ(at(get("jobkinds", "trainings.example.com"), "/status/conditions/0/reason"), "Served");
  ASSERT_TRUE(remove("jobkinds", "trainings.example.com"));
  kernel.run_to_rest();
  EXPECT_THAT(at(get("jobkinds", "trainings.example.com"), "/status/conditions/0/message"),
              HasSubstr("1 is left"));
  const auto more = create("trainings", R"({"metadata":{"name":"more"},"spec":{}})");
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().text,
              HasSubstr("JobKind trainings.example.com, which declares the kind"));
  EXPECT_EQ(other_pages, 0);
  ASSERT_TRUE(remove("trainings", "llm"));
  kernel.run_to_rest();
  EXPECT_FALSE(exists("jobkinds", "trainings.example.com"));
  EXPECT_EQ(other_pages, 0);  // not at once: pages often come together
  // Where pages are read they come later, on a slow disk; asked again after 1 s, 2 s and so on.
  std::vector<int> each_second;
  for (int second = 1; second <= 5; ++second) {
    machine.begin_instant(now += kSecond);
    kernel.run_to_rest();
    each_second.push_back(other_pages);
  }
  EXPECT_EQ(each_second, (std::vector{1, 2, 2, 3, 3}));
}

TEST_F(DeclaredJobs, PagesThatCannotBeServedAreRefused) {
  const std::string sets = R"("podSets":[{"name":"m","template":".spec.t"}]}})";
  const std::pair<std::string, const char*> cases[] = {
      {R"({"metadata":{"name":"jobs.batch"},"spec":{"group":"batch",
           "kind":"Job","versions":["v1"],)" +
           sets,
       "a group of Kubernetes itself"},
      {R"({"metadata":{"name":"clusters.ray.io"},"spec":{"group":"ray.io","kind":"RayCluster",
           "versions":["v1"],)" +
           sets,
       "rayclusters.ray.io of kind RayCluster is built in"},
      {R"({"metadata":{"name":"x.kueue.x-k8s.io"},"spec":{"group":"kueue.x-k8s.io","kind":"X",
           "versions":["v1"],)" +
           sets,
       "which is the host's own"},
      {R"({"metadata":{"name":"trains.example.com"},"spec":{"group":"other.com","kind":"T",
           "versions":["v1"],)" +
           sets,
       "metadata.name: found \"trains.example.com\""},
      {R"({"metadata":{"name":"ts.other.com"},"spec":{"group":"other.com","kind":"T",
           "versions":["v1"],"podSets":[{"name":"m","template":"t"}]}})",
       "spec.podSets[0].template: found \"t\""},
  };
  for (const auto& [text, expected] : cases) {
    const auto done = create("jobkinds", text);
    ASSERT_FALSE(done) << expected;
    EXPECT_EQ(done.error().code, 422);
    EXPECT_THAT(done.error().text, HasSubstr(expected));
  }
  for (const char* change : {R"({"spec":{"kind":"Other"}})", R"({"spec":{"versions":["v2"]}})"}) {
    const auto done = merge("jobkinds", "trainings.example.com", change);
    ASSERT_FALSE(done) << change;
    EXPECT_THAT(done.error().text, HasSubstr("field is immutable")) << change;
  }
  EXPECT_TRUE(merge("jobkinds", "trainings.example.com", R"({"spec":{"shortNames":["tr"]}})"));
}

}  // namespace
}  // namespace sluice::host::test
