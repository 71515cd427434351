// Jobs and RayClusters in `sluice simulate`: the host's own controllers under the virtual clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "tests/host/cli/sandbox.hpp"

namespace sluice::host {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A Job of `pods` pods with one CPU each.
std::string job(const std::string& name, int pods, const std::string& runs = "",
                const std::string& labels = "kueue.x-k8s.io/queue-name: lq",
                const std::string& annotations = "") {
  const std::string metadata =
      runs.empty() ? "" : "metadata: {annotations: {sluice.dev/runtime: " + runs + "}}, ";
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
         ", namespace: team, labels: {" + labels + "}, annotations: {" + annotations +
         "}}, spec: {parallelism: " + std::to_string(pods) +
         ", completions: " + std::to_string(pods) + ", template: {" + metadata +
         "spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {requests: "
         "{cpu: 1}}}]}}}}\n";
}

std::string ray_cluster(const std::string& name, int workers) {
  const std::string pod =
      "template: {metadata: {annotations: {sluice.dev/runtime: 20s}}, spec: {containers: [{name: "
      "c, image: x, resources: {requests: {cpu: 1}}}]}}";
  return "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: " + name +
         ", namespace: team, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {headGroupSpec: "
         "{rayStartParams: {}, " +
         pod + "}, workerGroupSpecs: [{groupName: small, rayStartParams: {}, replicas: " +
         std::to_string(workers) + ", " + pod + "}]}}\n";
}

std::string event(const std::string& at, const std::string& what) {
  return "- {at: " + at + ", " + what + "}\n";
}
std::string target(const std::string& name, const std::string& rest = "") {
  return "{kind: Job, namespace: team, name: " + name + (rest.empty() ? "" : ", " + rest) + "}";
}

class SimulateJobs : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    write("queue.yaml", kOneQueue);
  }
  /// The log, each line as `t type name [more]`, hashes of names cut off.
  std::string story(const std::string& arguments) const {
    static const std::regex kLine(
        R"re(\{"t":([0-9.]+),"type":"(\w+)",)re"
        R"re("workload":"team/(?:job-|raycluster-)?([a-z]+)(?:-[0-9a-f]{5})?"(.*)\})re");
    static const std::regex kMore(R"re("(?:reason|count)":"?(\w[\w ]*)"?)re");
    std::string out;
    std::string log = log_of(arguments);
    for (std::size_t begin = 0; begin < log.size();) {
      const std::size_t end = log.find('\n', begin);
      const std::string line = log.substr(begin, end - begin);
      begin = end + 1;
      std::smatch match;
      if (!std::regex_match(line, match, kLine)) {
        out += line + "\n";
        continue;
      }
      out += match.str(1) + " " + match.str(2) + " " + match.str(3);
      const std::string rest = match.str(4);
      for (std::sregex_iterator more(rest.begin(), rest.end(), kMore), last; more != last; ++more)
        out += " " + more->str(1);
      out += "\n";
    }
    return out;
  }
};

TEST_F(SimulateJobs, AJobRunsForItsRuntimeAndTheNextFollows) {
  // 4 CPUs: 3 + 2 do not fit.
  write("j.yaml", job("a", 3, "10s") + "---\n" + job("b", 2, "5s"));
  EXPECT_EQ(story("queue.yaml j.yaml"),
            "0.0 QuotaReserved a 3\n0.0 Admitted a\n0.0 Pending b WaitingForQuota\n"
            "10.0 Finished a Succeeded\n10.0 QuotaReserved b 2\n10.0 Admitted b\n"
            "15.0 Finished b Succeeded\n");
}

// `late` may run for 3 of its 10 s; `open` has no runtime and a deadline of 2 s; `fast` is done
// before its own.
TEST_F(SimulateJobs, AJobThatRunsForLongerThanItMayFails) {
  const auto with_deadline = [](std::string text, int seconds) {
    text.insert(text.find("spec: {") + 7,
                "activeDeadlineSeconds: " + std::to_string(seconds) + ", ");
    return text;
  };
  write("j.yaml", with_deadline(job("late", 4, "10s"), 3) + "---\n" +
                      with_deadline(job("open", 4), 2) + "---\n" +
                      with_deadline(job("fast", 4, "1s"), 9));
  EXPECT_EQ(story("queue.yaml j.yaml"),
            "0.0 QuotaReserved late 4\n0.0 Admitted late\n0.0 Pending open WaitingForQuota\n"
            "0.0 Pending fast WaitingForQuota\n3.0 Finished late Failed\n"
            "3.0 QuotaReserved open 4\n3.0 Admitted open\n5.0 Finished open Failed\n"
            "5.0 QuotaReserved fast 4\n5.0 Admitted fast\n6.0 Finished fast Succeeded\n");
}

TEST_F(SimulateJobs, TiesBetweenJobsAndWorkloadsEndInTheOrderOfTheDocuments) {
  write("j.yaml", job("first", 4, "1s") + "---\n" + workload("second", 4, runtime("1s")) + "---\n" +
                      job("third", 4, "1s"));
  EXPECT_EQ(story("queue.yaml j.yaml"),
            "0.0 QuotaReserved first 4\n0.0 Admitted first\n0.0 Pending second WaitingForQuota\n"
            "0.0 Pending third WaitingForQuota\n1.0 Finished first Succeeded\n"
            "1.0 QuotaReserved second 4\n1.0 Admitted second\n2.0 Finished second Succeeded\n"
            "2.0 QuotaReserved third 4\n2.0 Admitted third\n3.0 Finished third Succeeded\n");
}

TEST_F(SimulateJobs, APreemptedJobStartsOver) {
  // `low` ran for 6 of its 10 s when `high` takes the quota until 11 s.
  const std::string high = "kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: high";
  write("c.yaml",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, "
        "value: 10}\n");
  write("t.yaml", timeline(event("0s", "apply: " + job("low", 4, "10s")) +
                           event("6s", "apply: " + job("high", 4, "5s", high))));
  EXPECT_EQ(story("queue.yaml c.yaml t.yaml"),
            "0.0 QuotaReserved low 4\n0.0 Admitted low\n6.0 Evicted low Preempted\n"
            "6.0 QuotaReserved high 4\n6.0 Admitted high\n6.0 Pending low WaitingForQuota\n"
            "11.0 Finished high Succeeded\n11.0 QuotaReserved low 4\n11.0 Admitted low\n"
            "21.0 Finished low Succeeded\n");
}

TEST_F(SimulateJobs, PartialAdmissionAndReclaimablePods) {
  // `part` takes the 3 CPUs that are left; when one of the pods of `whole` has succeeded its CPU
  // is free again.
  write("t.yaml",
        timeline(event("0s", "apply: " + job("whole", 3)) +
                 event("1s", "apply: " + job("part", 3, "", "kueue.x-k8s.io/queue-name: lq",
                                             "kueue.x-k8s.io/job-min-parallelism: '1'")) +
                 event("2s", "apply: " + job("one", 1)) +
                 event("3s", "patch: " + target("whole",
                                                "subresource: status, merge: {status: "
                                                "{succeeded: 1}}"))));
  EXPECT_EQ(story("queue.yaml t.yaml"),
            "0.0 QuotaReserved whole 3\n0.0 Admitted whole\n1.0 QuotaReserved part 1\n"
            "1.0 Admitted part\n2.0 Pending one WaitingForQuota\n3.0 QuotaReserved one 1\n"
            "3.0 Admitted one\n");
}

TEST_F(SimulateJobs, TheTimelineChangesFinishesAndDeletesJobs) {
  write("t.yaml",
        timeline(event("0s", "apply: " + job("a", 4)) + event("0s", "apply: " + job("b", 6)) +
                 event("1s", "finish: {namespace: team, name: b}") +
                 event("2s", "patch: " + target("b", "merge: {spec: {parallelism: 2}}")) +
                 event("3s", "finish: {kind: Job, namespace: team, name: a}") +
                 event("4s", "apply: " + job("c", 4)) + event("5s", "delete: " + target("b")) +
                 event("6s", "delete: " + target("c")) + event("6s", "apply: " + job("d", 1))));
  EXPECT_EQ(story("queue.yaml t.yaml"),
            "0.0 QuotaReserved a 4\n0.0 Admitted a\n0.0 Pending b ExceedsMaxQuota\n"
            "1.0 Skipped b team\n2.0 Pending b WaitingForQuota\n3.0 Finished a Succeeded\n"
            "3.0 QuotaReserved b 2\n3.0 Admitted b\n4.0 Pending c WaitingForQuota\n"
            "5.0 QuotaReserved c 4\n5.0 Admitted c\n6.0 QuotaReserved d 1\n6.0 Admitted d\n");
}

TEST_F(SimulateJobs, AnApplyChangesWhatTheUserChangedAndNothingElse) {
  // The job runs with what its admission put in; a changed label of it does not stop it.
  write(
      "t.yaml",
      timeline(event("0s", "apply: " + job("a", 2, "10s")) +
               event("5s", "apply: " + job("a", 2, "10s", "kueue.x-k8s.io/queue-name: lq, x: z"))));
  EXPECT_EQ(story("queue.yaml t.yaml"),
            "0.0 QuotaReserved a 2\n0.0 Admitted a\n10.0 Finished a Succeeded\n");
}

TEST_F(SimulateJobs, ARayClusterHasPodSetsForItsGroups) {
  write("r.yaml", ray_cluster("ray", 3) + "---\n" + ray_cluster("more", 2));
  EXPECT_EQ(story("queue.yaml r.yaml"),
            "0.0 QuotaReserved ray 1 3\n0.0 Admitted ray\n0.0 Pending more WaitingForQuota\n"
            "20.0 Finished ray Succeeded\n20.0 QuotaReserved more 1 2\n20.0 Admitted more\n"
            "40.0 Finished more Succeeded\n");
}

TEST_F(SimulateJobs, ADumpGoesOnWithTheRemainingRuntimes) {
  write("j.yaml", job("a", 3, "10s") + "---\n" + job("b", 2, "5s") + "---\n" + job("c", 9));
  write("t.yaml", timeline(event("12s", "apply: " + job("d", 2, "1s"))));
  EXPECT_EQ(sluice("simulate --plugins none --log whole.log queue.yaml j.yaml t.yaml").status, 0);
  EXPECT_EQ(sluice("simulate --plugins none --until 7s --log 1.log --dump d.yaml queue.yaml j.yaml "
                   "t.yaml")
                .status,
            0);
  EXPECT_EQ(sluice("simulate --plugins none --log 2.log d.yaml t.yaml").status, 0);
  // The dump tells the pending reasons again; from 10 s on both say the same.
  const auto from_10s = [](const std::string& log) { return log.substr(log.find("{\"t\":10.0")); };
  EXPECT_EQ(from_10s(read("2.log")), from_10s(read("whole.log")));
  EXPECT_THAT(read("2.log"), Not(HasSubstr("\"t\":7.0,\"type\":\"Evicted\"")));
}

TEST_F(SimulateJobs, MistakesNameFileAndLine) {
  struct Case {
    std::string text, error;
  };
  for (const auto& [text, error] :
       {Case{
            job("a", 1, "soon"),
            "error: j.yaml:1: Job team/a: "
            "spec.template.metadata.annotations[sluice.dev/runtime]: Invalid value: \"soon\": must "
            "be a duration"},
        Case{timeline(event("1s", "delete: " + target("a"))),
             "error: j.yaml:4: delete: there is no Job team/a at that time"}}) {
    write("j.yaml", text);
    const RunResult run = sluice("simulate --plugins none queue.yaml j.yaml");
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(error));
  }
}

TEST_F(SimulateJobs, APatchThatTheHostRefusesIsSkippedWithTheReason) {
  write("j.yaml", timeline(event("0s", "apply: " + job("a", 1)) +
                           event("1s", "patch: " + target("a",
                                                          "merge: {spec: {template: {spec: "
                                                          "{restartPolicy: OnFailure}}}}"))));
  const RunResult run = sluice("simulate --plugins none queue.yaml j.yaml");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("skipped: the patch is refused: Job.batch \"a\" is invalid: "
                                 "spec.template"));
}

TEST_F(SimulateJobs, ThatCannotBeQueuedWaitForWhatTheyNeed) {
  const std::string classy = "kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: later";
  write("t.yaml", timeline(event("0s", "apply: " + job("a", 1, "1s", classy)) +
                           event("5s",
                                 "apply: {apiVersion: kueue.x-k8s.io/v1beta2, kind: "
                                 "WorkloadPriorityClass, metadata: {name: later}, value: 1}")));
  EXPECT_EQ(story("queue.yaml t.yaml"),
            "5.0 QuotaReserved a 1\n5.0 Admitted a\n6.0 Finished a Succeeded\n");
}

TEST_F(SimulateJobs, TheLogIsTheSameForAnyNumberOfThreads) {
  std::string events;
  for (int i = 0; i < 40; ++i)
    events += event(std::to_string(i / 4) + "s", "apply: " + job("w" + std::to_string(i), 1 + i % 4,
                                                                 std::to_string(1 + i % 7) + "s"));
  write("t.yaml", timeline(events));
  const std::string one = log_of("--states --threads 1 queue.yaml t.yaml");
  EXPECT_GT(one.size(), 10'000U);
  for (const char* threads : {"1", "2", "8"})
    EXPECT_EQ(one, log_of(std::string("--states --threads ") + threads + " queue.yaml t.yaml"));
}

TEST_F(SimulateJobs, WhatKeepsAJobFromBeingQueuedIsTold) {
  write("j.yaml",
        job("held", 1, "", "kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: none"));
  const RunResult run = sluice("simulate --plugins none queue.yaml j.yaml");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err,
            "warning: Job team/held: WorkloadPriorityClassNotFound: "
            "WorkloadPriorityClass none doesn't exist\n");
}

TEST_F(SimulateJobs, ThatNameNoQueueAreTold) {
  const std::string told = "warning: j.yaml:1: Job team/a and 1 more jobs name no queue (label ";
  write("j.yaml",
        job("a", 1, "1s", "") + "---\n" + job("b", 1, "1s") + "---\n" + job("c", 1, "1s", "x: z"));
  EXPECT_THAT(sluice("simulate --plugins none queue.yaml j.yaml").err, HasSubstr(told));
  // Where they are held, or a queue is theirs by default, that is said by what becomes of them.
  write("c.yaml",
        "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
        "manageJobsWithoutQueueName: true\n");
  EXPECT_EQ(sluice("simulate --plugins none --config c.yaml queue.yaml j.yaml").err, "");
  write("d.yaml",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default, "
        "namespace: team}, spec: {clusterQueue: cq}}\n");
  EXPECT_EQ(sluice("simulate --plugins none queue.yaml d.yaml j.yaml").err, "");
}

}  // namespace
}  // namespace sluice::host
