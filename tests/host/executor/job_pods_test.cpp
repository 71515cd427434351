// Jobs and their pods as objects, without processes: the tests write the pods' statuses.
#include <gtest/gtest.h>

#include "host/executor/jobs/job_pods_controller.hpp"
#include "host/executor/pod_controller.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::at;

struct JobPodsTest : testing::Test, test::HostFixture {
  JobPodsTest() {
    controllers.add(jobs);
    controllers.add(ends);
  }
  void job(const std::string& spec) {
    const auto done = create("jobs", R"({"metadata":{"name":"j"},"spec":{)" + spec +
                                         R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{)"
                                         R"("restartPolicy":"Never","containers":[{"name":"c",)"
                                         R"("image":"i","command":["true"]}]}}}})");
    ASSERT_TRUE(done) << done.error().text;
    kernel.run_to_rest();
  }
  std::vector<std::string> pods() {
    return static_cast<const ObjectAccess&>(objects).keys(kind("pods"), "default");
  }
  void phase(const std::string& key, const std::string& value) {
    ASSERT_TRUE(
        merge("pods", key.substr(8), R"({"status":{"phase":")" + value + R"("}})", "status"));
    kernel.run_to_rest();
  }
  boost::json::object job() { return get("jobs", "default/j"); }

  JobPodsController jobs{
      [](const ObjectRef&, const ObjectAccess&) { return std::vector<std::string>{"gate"}; }};
  PodController ends;
};

TEST_F(JobPodsTest, PodsCarryWhatTheirJobSays) {
  job(R"("completionMode":"Indexed","completions":2,"parallelism":2,)");
  ASSERT_EQ(pods().size(), 2U);
  const auto pod = get("pods", pods()[0]);
  EXPECT_EQ(pods()[0].substr(0, 12), "default/j-0-");
  EXPECT_EQ(at(pod, "/metadata/labels/app"), "x");
  EXPECT_EQ(at(pod, "/metadata/labels/job-name"), "j");
  EXPECT_EQ(at(pod, "/metadata/labels/batch.kubernetes.io~1controller-uid"),
            at(job(), "/metadata/uid"));
  EXPECT_EQ(at(pod, "/metadata/annotations/batch.kubernetes.io~1job-completion-index"), "0");
  EXPECT_EQ(at(pod, "/metadata/ownerReferences/0/controller"), "true");
  EXPECT_EQ(at(pod, "/spec/containers/0/env/0/name"), "JOB_COMPLETION_INDEX");
  EXPECT_EQ(at(pod, "/spec/schedulingGates/0/name"), "gate");
  EXPECT_EQ(at(job(), "/status/active"), "2");
}

TEST_F(JobPodsTest, RunsToItsEnd) {
  job(R"("completions":2,"parallelism":1,)");
  const std::string first = pods().at(0);
  phase(first, "Running");
  phase(first, "Succeeded");
  EXPECT_EQ(at(job(), "/status/succeeded"), "1");
  ASSERT_EQ(pods().size(), 2U);
  const std::string second = pods()[0] == first ? pods()[1] : pods()[0];
  phase(second, "Succeeded");
  EXPECT_EQ(at(job(), "/status/succeeded"), "2");
  EXPECT_EQ(at(job(), "/status/conditions/1/type"), "Complete");
  EXPECT_EQ(at(get("pods", second), "/metadata/finalizers"), "(absent)");
}

TEST_F(JobPodsTest, SuspensionRemovesPodsThatDoNotRun) {
  job(R"("parallelism":3,"completions":3,)");
  EXPECT_EQ(pods().size(), 3U);
  ASSERT_TRUE(merge("jobs", "j", R"({"spec":{"suspend":true}})"));
  kernel.run_to_rest();
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(at(job(), "/status/active"), "(absent)");
  ASSERT_TRUE(merge("jobs", "j", R"({"spec":{"suspend":false}})"));
  kernel.run_to_rest();
  EXPECT_EQ(pods().size(), 3U);
}

TEST_F(JobPodsTest, DeletingTheJobTakesItsPodsAlong) {
  job(R"("parallelism":2,"completions":2,)");
  ASSERT_TRUE(remove("jobs", "j"));
  kernel.run_to_rest();
  EXPECT_TRUE(pods().empty());
  EXPECT_FALSE(exists("jobs", "default/j"));
}

// What holds a pod whose Job is gone is its processes alone, not a Job that would count them.
TEST_F(JobPodsTest, PodsOfADeletedJobLoseItsFinalizerWhileTheyRun) {
  job(R"("parallelism":1,"completions":1,)");
  const std::string pod = pods().at(0);
  ASSERT_TRUE(merge("pods", pod.substr(8), R"({"spec":{"schedulingGates":null}})"));
  auto bound = get("pods", pod);
  bound["spec"].as_object()["nodeName"] = "n";
  const auto done = static_cast<ObjectAccess&>(objects).update(std::move(bound));
  ASSERT_TRUE(done) << done.error().text;
  phase(pod, "Running");
  ASSERT_TRUE(remove("jobs", "j"));
  kernel.run_to_rest();
  EXPECT_EQ(at(get("pods", pod), "/metadata/finalizers"), "(absent)");
  EXPECT_EQ(at(get("pods", pod), "/metadata/deletionGracePeriodSeconds"), "30");
  WriteRequest force = request(WriteVerb::kDelete, "pods", pod.substr(8));
  force.deletion.grace_period_seconds = 0;
  ASSERT_TRUE(machine.write(force));
  EXPECT_TRUE(pods().empty());
}

TEST_F(JobPodsTest, ForegroundDeletionToo) {
  job(R"("parallelism":2,"completions":2,)");
  ASSERT_TRUE(remove("jobs", "j", Propagation::kForeground));
  kernel.run_to_rest();
  EXPECT_TRUE(pods().empty());
  EXPECT_FALSE(exists("jobs", "default/j"));
}

TEST_F(JobPodsTest, NamesAreTheSameForTheSameJob) {
  job(R"("parallelism":2,"completions":2,)");
  const std::vector<std::string> names = pods();
  test::HostFixture other;
  JobPodsController controller;
  other.controllers.add(controller);
  ASSERT_TRUE(other.create("jobs", R"({"metadata":{"name":"j"},"spec":{"parallelism":2,)"
                                   R"("completions":2,"template":{"spec":{"restartPolicy":)"
                                   R"("Never","containers":[{"name":"c","image":"i"}]}}}})"));
  other.kernel.run_to_rest();
  EXPECT_EQ(static_cast<const ObjectAccess&>(other.objects).keys(other.kind("pods"), ""), names);
}

}  // namespace
}  // namespace sluice::host
