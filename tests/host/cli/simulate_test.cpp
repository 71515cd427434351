// `sluice simulate` from files to its decision log, compared as a whole.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/host/cli/sandbox.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string reserved(const std::string& t, const std::string& name, int count) {
  return "{\"t\":" + t + ",\"type\":\"QuotaReserved\",\"workload\":\"team/" + name +
         "\",\"clusterQueue\":\"cq\",\"podSets\":[{\"name\":\"main\",\"count\":" +
         std::to_string(count) + ",\"flavors\":{\"cpu\":\"default\"}}],\"borrowing\":false}\n";
}
std::string admitted(const std::string& t, const std::string& name) {
  return "{\"t\":" + t + ",\"type\":\"Admitted\",\"workload\":\"team/" + name + "\"}\n";
}
std::string starts(const std::string& t, const std::string& name, int count) {
  return reserved(t, name, count) + admitted(t, name);
}
std::string finished(const std::string& t, const std::string& name) {
  return "{\"t\":" + t + ",\"type\":\"Finished\",\"workload\":\"team/" + name +
         "\",\"reason\":\"Succeeded\"}\n";
}
std::string waits(const std::string& t, const std::string& name, int missing) {
  return "{\"t\":" + t + ",\"type\":\"Pending\",\"workload\":\"team/" + name +
         "\",\"reason\":\"WaitingForQuota\",\"message\":\"couldn't assign flavors to pod set main: "
         "insufficient unused quota for cpu in flavor default, " +
         std::to_string(missing) + " more needed\"}\n";
}

class Simulate : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    write("queue.yaml", kOneQueue);
  }
};

TEST_F(Simulate, OneWorkloadRunsAndEnds) {
  write("w.yaml", workload("w", 3, runtime("2500ms")));
  EXPECT_EQ(log_of("w.yaml queue.yaml"), starts("0.0", "w", 3) + finished("2.5", "w"));
}

TEST_F(Simulate, TheSecondStartsWhenTheFirstEnds) {
  // 4 CPUs: 3 + 2 do not fit, 1 is missing; at 10 s the 3 are free again.
  write("w.yaml", workload("a", 3, runtime("10s")) + "---\n" + workload("b", 2, runtime("5s")));
  EXPECT_EQ(log_of("."), starts("0.0", "a", 3) + waits("0.0", "b", 1) + finished("10.0", "a") +
                             starts("10.0", "b", 2) + finished("15.0", "b"));
}

TEST_F(Simulate, AnEvictedJobStartsOver) {
  // `low` has run for 6 of its 10 s when `high` takes the quota until 11 s: it ends at 21 s.
  write("t.yaml",
        timeline("- {at: 0s, apply: " + workload("low", 4, runtime("10s"), "priority: 1") + "}\n" +
                 "- {at: 6s, apply: " + workload("high", 4, runtime("5s"), "priority: 2") + "}\n"));
  const std::string log = log_of("queue.yaml t.yaml");
  EXPECT_THAT(log,
              HasSubstr("{\"t\":6.0,\"type\":\"Evicted\",\"workload\":\"team/low\",\"reason\":"
                        "\"Preempted\",\"preemption\":\"InClusterQueue\",\"by\":\"team/high\"}\n"));
  EXPECT_THAT(log, HasSubstr(finished("11.0", "high") + starts("11.0", "low", 4) +
                             finished("21.0", "low")));
  EXPECT_THAT(log, Not(HasSubstr("\"t\":10.0")));
}

TEST_F(Simulate, TimelinesAreMergedByTimeAndThenByOrder) {
  write("1.yaml", timeline("- {at: 2s, apply: " + workload("third", 1) + "}\n" +
                           "- {at: 1s, apply: " + workload("first", 1) + "}\n"));
  write("2.yaml", timeline("- {at: 1s, apply: " + workload("second", 1) + "}\n"));
  EXPECT_EQ(log_of("queue.yaml 1.yaml 2.yaml"),
            starts("1.0", "first", 1) + starts("1.0", "second", 1) + starts("2.0", "third", 1));
}

TEST_F(Simulate, TiesEndInTheOrderOfTheDocuments) {
  // The same time, the same priority: `z` stands first, so it starts first.
  write("w.yaml", workload("z", 3) + "---\n" + workload("a", 3));
  EXPECT_EQ(log_of("queue.yaml w.yaml"), starts("0.0", "z", 3) + waits("0.0", "a", 2));
}

TEST_F(Simulate, TimeAndUidOfTheManifestCount) {
  write("w.yaml", workload("young", 3, "creationTimestamp: '2025-12-31T23:59:59Z'") + "---\n" +
                      workload("old", 3, "creationTimestamp: '2025-12-31T23:59:58Z'"));
  EXPECT_EQ(log_of("queue.yaml w.yaml"), starts("0.0", "old", 3) + waits("0.0", "young", 2));
}

TEST_F(Simulate, ToFinishWhatDoesNotRunIsSkipped) {
  write("w.yaml", workload("a", 4) + "---\n" + workload("b", 1));
  write("t.yaml", timeline("- {at: 1s, finish: {namespace: team, name: b}}\n"
                           "- {at: 2s, finish: {namespace: team, name: a}}\n"));
  EXPECT_EQ(
      log_of("queue.yaml w.yaml t.yaml"),
      starts("0.0", "a", 4) + waits("0.0", "b", 1) +
          "{\"t\":1.0,\"type\":\"Skipped\",\"workload\":\"team/b\",\"reason\":\"team/b is not "
          "admitted, so it cannot finish\"}\n" +
          finished("2.0", "a") + starts("2.0", "b", 1));
}

// C7: as an end that comes too early.
TEST_F(Simulate, C7_AnAnswerOfACheckBeforeItsReservationIsSkipped) {
  std::string queue = kOneQueue;
  queue.replace(queue.find("namespaceSelector: {}"), 21,
                "namespaceSelector: {}\n  admissionChecksStrategy: {admissionChecks: [{name: "
                "budget}]}");
  write("queue.yaml", queue +
                          "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\n"
                          "metadata: {name: budget}\nspec: {controllerName: example.com/budget}\n");
  write("w.yaml", workload("a", 4) + "---\n" + workload("b", 1));
  const auto answer = [](const std::string& at, const std::string& name) {
    return "- {at: " + at + ", patch: {kind: Workload, namespace: team, name: " + name +
           ", subresource: status, merge: {status: {admissionChecks: [{name: budget, state: Ready, "
           "message: fine, lastTransitionTime: '2026-01-01T00:00:01Z'}]}}}}\n";
  };
  write("t.yaml", timeline(answer("1s", "b") + answer("2s", "a")));
  const std::string log = log_of("queue.yaml w.yaml t.yaml");
  EXPECT_THAT(log, HasSubstr("{\"t\":1.0,\"type\":\"Skipped\",\"workload\":\"team/b\",\"reason\":"
                             "\"the patch is refused: "));
  EXPECT_THAT(log, HasSubstr("cannot change while the workload holds no quota"));
  EXPECT_THAT(log, HasSubstr(admitted("2.0", "a")));
}

TEST_F(Simulate, AJobOfThatNameCanBeFinished) {
  write("w.yaml",
        workload("job-train-12345", 1,
                 "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: u, "
                 "controller: true}]"));
  write("t.yaml", timeline("- {at: 3s, finish: {namespace: team, name: train}}\n"));
  EXPECT_THAT(log_of("queue.yaml w.yaml t.yaml"), HasSubstr(finished("3.0", "job-train-12345")));
}

TEST_F(Simulate, StatesShowEveryWorkloadThatExists) {
  write("w.yaml", workload("a", 4) + "---\n" + workload("b", 1));
  write("t.yaml", timeline("- {at: 1s, finish: {namespace: team, name: a}}\n"
                           "- {at: 2s, delete: {kind: Workload, namespace: team, name: a}}\n"
                           "- {at: 3s, finish: {namespace: team, name: a2}}\n"
                           "- {at: 2500ms, apply: " +
                           workload("a2", 9) + "}\n"));
  const std::string log = log_of("--states queue.yaml w.yaml t.yaml");
  const std::string held =
      "\"podSets\":[{\"name\":\"main\",\"count\":1,\"flavors\":{\"cpu\":\"default\"}}]";
  EXPECT_THAT(log, HasSubstr("{\"t\":1.0,\"type\":\"State\",\"workloads\":{\"team/a\":{\"state\":"
                             "\"Finished\"},\"team/b\":{\"state\":\"Admitted\"," +
                             held + "}}}\n"));
  EXPECT_THAT(log, HasSubstr("{\"t\":2.0,\"type\":\"State\",\"workloads\":{\"team/b\":"));
  EXPECT_THAT(log, HasSubstr("{\"t\":2.5,\"type\":\"State\",\"workloads\":{\"team/a2\":{\"state\":"
                             "\"Pending\"},\"team/b\":"));
  // A skipped event changes nothing, so there is no State of that instant.
  EXPECT_THAT(log, Not(HasSubstr("{\"t\":3.0,\"type\":\"State\"")));
}

TEST_F(Simulate, UntilIncludesItsInstant) {
  write("w.yaml", workload("a", 4, runtime("10s")) + "---\n" + workload("b", 1, runtime("10s")));
  EXPECT_THAT(log_of("--until 9999ms ."), Not(HasSubstr("\"t\":10.0")));
  EXPECT_THAT(log_of("--until 10s ."), HasSubstr(starts("10.0", "b", 1)));
  EXPECT_THAT(log_of("--until 10s ."), Not(HasSubstr("\"t\":20.0")));
}

TEST_F(Simulate, ApplyPatchAndDeleteChangeObjects) {
  write("w.yaml", workload("a", 3) + "---\n" + workload("b", 3));
  // b needs 2 more; raising the quota to 6 lets it start, with status and identity of cq kept.
  write("quota.yaml",
        timeline("- {at: 1s, patch: {kind: ClusterQueue, name: cq, merge: {spec: {resourceGroups: "
                 "[{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, "
                 "nominalQuota: 6}]}]}]}}}}\n"));
  EXPECT_THAT(log_of("queue.yaml w.yaml quota.yaml"), HasSubstr(starts("1.0", "b", 3)));
  // Two of the three pods of a have ended: 2 CPUs are free, with the one that was: 3.
  write(
      "reclaim.yaml",
      timeline("- {at: 1s, patch: {kind: Workload, namespace: team, name: a, subresource: status, "
               "merge: {status: {reclaimablePods: [{name: main, count: 2}]}}}}\n"));
  EXPECT_THAT(log_of("queue.yaml w.yaml reclaim.yaml"), HasSubstr(starts("1.0", "b", 3)));
  write("delete.yaml",
        timeline("- {at: 1s, delete: {kind: Workload, namespace: team, name: a}}\n"));
  EXPECT_THAT(log_of("queue.yaml w.yaml delete.yaml"), HasSubstr(starts("1.0", "b", 3)));
  // apply replaces the spec: inactive workloads are evicted and not queued.
  write("apply.yaml",
        timeline("- {at: 1s, apply: " + workload("a", 3, "", "active: false") + "}\n"));
  EXPECT_THAT(log_of("queue.yaml w.yaml apply.yaml"), HasSubstr(starts("1.0", "b", 3)));
}

TEST_F(Simulate, PriorityComesFromTheClass) {
  write("w.yaml",
        workload("low", 3, "", "priority: 5") + "---\n" +
            workload("high", 3, "",
                     "priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: "
                     "urgent}") +
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\n"
            "metadata: {name: urgent}\nvalue: 10\n");
  EXPECT_EQ(log_of("queue.yaml w.yaml"), starts("0.0", "high", 3) + waits("0.0", "low", 2));
}

TEST_F(Simulate, ADanglingChangeMakesTheQueueInactive) {
  write("w.yaml", workload("a", 1));
  write("t.yaml", timeline("- {at: 0s, delete: {kind: ResourceFlavor, name: default}}\n"));
  const std::string log = log_of("queue.yaml w.yaml t.yaml");
  EXPECT_THAT(log, HasSubstr("\"type\":\"Pending\",\"workload\":\"team/a\""));
  EXPECT_THAT(log, Not(HasSubstr("Admitted")));
}

constexpr const char* kRunning =
    "status: {admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 3, flavors: "
    "{cpu: "
    "default}, resourceUsage: {cpu: '3'}}]}, conditions: [{type: QuotaReserved, status: 'True', "
    "reason: QuotaReserved, message: '', lastTransitionTime: '2025-12-31T23:59:50Z'}, {type: "
    "Admitted, "
    "status: 'True', reason: Admitted, message: '', lastTransitionTime: '2025-12-31T23:59:50Z'}]}";

TEST_F(Simulate, StatusOfADumpIsTheStartingState) {
  std::string running = workload("running", 3, runtime("15s"));
  running.insert(running.rfind('}'), std::string(", ") + kRunning);
  // Before everything that it refers to, as kubectl may print it. It has run for 10 of 15 s.
  write("a.yaml", running + "---\n" + workload("next", 3));
  EXPECT_EQ(log_of("a.yaml queue.yaml"),
            waits("0.0", "next", 2) + finished("5.0", "running") + starts("5.0", "next", 3));
}

TEST_F(Simulate, ADumpGoesOnToTheSameDecisions) {
  write("w.yaml", workload("a", 3, runtime("10s")) + "---\n" + workload("b", 2, runtime("7s")) +
                      "---\n" + workload("c", 4, runtime("3s"), "priority: -1"));
  write("t.yaml",
        timeline("- {at: 2s, apply: " + workload("d", 1, runtime("20s")) + "}\n" +
                 "- {at: 12s, apply: " + workload("e", 2, runtime("4s"), "priority: 9") + "}\n"));
  const std::string whole = log_of("queue.yaml w.yaml t.yaml");
  for (const char* dump : {"dump.yaml", "dump.json"}) {
    const std::string head =
        log_of(std::string("--until 11s --dump ") + dump + " queue.yaml w.yaml t.yaml");
    ASSERT_EQ(whole.substr(0, head.size()), head);
    std::string tail = log_of(std::string(dump) + " t.yaml");
    // The reasons of workloads that wait are repeated at the cut; all else is the rest of the log.
    tail.erase(0, tail.find("{\"t\":12.0"));
    EXPECT_EQ(tail, whole.substr(head.size())) << dump;
  }
}

TEST_F(Simulate, TheLogIsTheSameForAnyNumberOfThreads) {
  std::string events;
  for (int i = 0; i < 60; ++i)
    events += "- {at: " + std::to_string(i / 4) + "s, apply: " +
              workload("w" + std::to_string(i), 1 + i % 4, runtime(std::to_string(1 + i % 7) + "s"),
                       "priority: " + std::to_string(i % 3)) +
              "}\n";
  write("t.yaml", timeline(events));
  const std::string one = log_of("--states --threads 1 queue.yaml t.yaml");
  EXPECT_GT(one.size(), 10'000U);
  for (const char* threads : {"1", "2", "8"})
    EXPECT_EQ(one, log_of(std::string("--states --threads ") + threads + " queue.yaml t.yaml"));
}

TEST_F(Simulate, PodsOfAJobWithARuntimeAreReady) {
  write("c.yaml",
        "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
        "scheduling: {waitForPodsReady: {timeout: 5s}}\n");
  write("w.yaml", workload("runs", 1, runtime("9s")) + "---\n" + workload("hangs", 1) + "---\n" +
                      workload("told", 1));
  write("t.yaml", timeline("- {at: 4s, patch: {kind: Workload, namespace: team, name: told, "
                           "subresource: status, merge: {status: {conditions: [{type: PodsReady, "
                           "status: 'True', reason: Started, message: '', lastTransitionTime: "
                           "'2026-01-01T00:00:04Z'}]}}}}\n"));
  const std::string log = log_of("--until 10s --config c.yaml queue.yaml w.yaml t.yaml");
  EXPECT_THAT(log, HasSubstr("{\"t\":5.0,\"type\":\"Evicted\",\"workload\":\"team/hangs\","
                             "\"reason\":\"PodsReadyTimeout\"}\n"));
  EXPECT_THAT(log, HasSubstr(finished("9.0", "runs")));
  EXPECT_THAT(log, Not(HasSubstr("\"Evicted\",\"workload\":\"team/told\"")));
}

// C9: what a running host takes is no mistake here either: the queue is inactive, and says so.
TEST_F(Simulate, C9_AMissingReferenceMakesTheQueueInactive) {
  std::string queue = kOneQueue;
  queue.replace(queue.find("metadata: {name: default}"), 25, "metadata: {name: another}");
  write("queue.yaml", queue);
  write("w.yaml", workload("w", 1));
  write("t.yaml", timeline("- {at: 5s, apply: {apiVersion: kueue.x-k8s.io/v1beta2, kind: "
                           "ResourceFlavor, metadata: {name: default}}}\n"));
  const RunResult run = sluice("simulate --plugins none --log - queue.yaml w.yaml");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(
      run.err,
      "warning: queue.yaml:15: ClusterQueue cq: no ResourceFlavor \"default\" is given, and no "
      "event applies one; the queue is inactive\n");
  EXPECT_THAT(run.out, HasSubstr("\"type\":\"Pending\",\"workload\":\"team/w\",\"reason\":"
                                 "\"Misconfigured\",\"message\":\"ClusterQueue cq is inactive: "
                                 "references missing ResourceFlavor(s): default\""));
  // With an event that brings the flavor nothing is missing for good.
  const RunResult later = sluice("simulate --plugins none --log - queue.yaml w.yaml t.yaml");
  EXPECT_EQ(later.err, "");
  EXPECT_THAT(later.out, HasSubstr(starts("5.0", "w", 1)));
}

TEST_F(Simulate, C9_ACycleOfCohortsMakesItsQueuesInactive) {
  std::string queue = kOneQueue;
  queue.replace(queue.find("namespaceSelector: {}"), 21,
                "namespaceSelector: {}\n  cohortName: a\n  admissionChecksStrategy: "
                "{admissionChecks: [{name: nobody}]}");
  write("queue.yaml", queue);
  write("cycle.yaml",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: a}\nspec: "
        "{parentName: b}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: "
        "{name: b}\nspec: {parentName: a}\n");
  write("w.yaml", workload("w", 1));
  const RunResult run = sluice("simulate --plugins none --log - queue.yaml cycle.yaml w.yaml");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("cycle.yaml:4: Cohort a: the parents go round in a cycle: a → b → "
                                 "a; its queues are inactive\n"));
  EXPECT_THAT(run.err, HasSubstr("ClusterQueue cq: no AdmissionCheck \"nobody\" is given"));
  EXPECT_THAT(run.out, Not(HasSubstr("Admitted")));
}

TEST_F(Simulate, CohortsThatStandTooDeepMakeTheirQueuesInactive) {
  // c0 stands above c1, and so on: the 65th, c64, is one too many, and c65 below it as well.
  std::string chain;
  for (int i = 0; i <= 65; ++i)
    chain += fmt::format(
        "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\n"
        "metadata: {{name: c{}}}\nspec: {{{}}}\n",
        i, i == 0 ? "" : fmt::format("parentName: c{}", i - 1));
  write("chain.yaml", chain);
  const RunResult run = sluice("simulate --plugins none --log - queue.yaml chain.yaml");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("Cohort c64: more than 64 cohorts stand one above the other"));
  EXPECT_THAT(run.err, Not(HasSubstr("Cohort c63")));
  EXPECT_THAT(run.err, Not(HasSubstr("Cohort c65")));
}

TEST_F(Simulate, C9_GeneratedNamesAreTheSameEachTime) {
  std::string twin = workload("NAME", 1);
  twin.replace(twin.find("name: NAME"), 10, "generateName: train-");
  write("w.yaml", twin + "---\n" + twin);
  write("t.yaml", timeline("- {at: 90s, apply: " + twin + "}\n" + "- {at: 90s, apply: " + twin +
                           "}\n" + "- {at: 1500ms, apply: " + twin + "}\n"));
  const std::string log = log_of("queue.yaml w.yaml t.yaml");
  EXPECT_EQ(log, starts("0.0", "train-1", 1) + starts("0.0", "train-2", 1) +
                     starts("1.5", "train-1-5s-1", 1) + starts("90.0", "train-1m30s-1", 1) +
                     waits("90.0", "train-1m30s-2", 1));
  // A dump has names; the events that are left have the names that they had.
  const std::string head = log_of("--until 10s --dump dump.yaml queue.yaml w.yaml t.yaml");
  EXPECT_EQ(head + log_of("dump.yaml t.yaml"), log);
}

constexpr const char* kPodsReady =
    "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
    "scheduling: {waitForPodsReady: {timeout: 60s}}\n";

// The last moment is in 2189, 1,430,000 hours after the start: what would come later never comes,
// and cannot be told in a Timeline.
TEST_F(Simulate, TimesBeyondTheLastMomentDoNotWrapAround) {
  const std::string start = "start: \"2026-01-01T00:00:00Z\"\n";
  write("w.yaml", workload("w", 1, runtime("2100000h")));
  write("t.yaml", start + timeline("[]\n"));
  EXPECT_EQ(log_of("w.yaml queue.yaml t.yaml"), starts("0.0", "w", 1));
  write("t.yaml", start + timeline("- {at: 2100000h, finish: {namespace: team, name: w}}\n"));
  const RunResult run = sluice("simulate --plugins none queue.yaml w.yaml t.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("t.yaml:"));
  EXPECT_THAT(run.err, HasSubstr("is beyond the last moment that there is here: 2189-03-16T"));
}

TEST_F(Simulate, WhatIsReadIsNotWrittenOver) {
  write("w.yaml", workload("w", 1));
  for (const char* arguments :
       {"--log queue.yaml", "--dump queue.yaml", "--report before.log --against before.log"}) {
    write("before.log", "{}\n");
    const RunResult run =
        sluice("simulate --plugins none " + std::string(arguments) + " queue.yaml w.yaml");
    EXPECT_NE(run.status, 0) << arguments;
    EXPECT_THAT(run.err, HasSubstr("is read as well; name another file")) << arguments;
  }
  EXPECT_EQ(sluice("simulate --plugins none queue.yaml w.yaml").status, 0);
}

TEST_F(Simulate, EachOutputHasAFileOfItsOwn) {
  write("w.yaml", workload("w", 1));
  for (const char* arguments :
       {"--log out --dump out", "--dump out --report out", "--log out --report out"}) {
    const RunResult run =
        sluice("simulate --plugins none " + std::string(arguments) + " queue.yaml w.yaml");
    EXPECT_NE(run.status, 0) << arguments;
    EXPECT_THAT(run.err, HasSubstr("out is that of --")) << arguments;
  }
}

std::string restless(const std::string& config) {
  return "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\nplugins: {directory: " +
         std::string(SLUICE_TEST_PLUGINS) + ", load: [{name: restless, config: {" + config +
         "}}]}\n";
}

// At once again and again: the time of the Timeline's event never comes, nor that of --until.
TEST_F(Simulate, AnInstantThatDoesNotEndIsStoppedAndItsPluginNamed) {
  if (trial::stride() > 1) GTEST_SKIP() << "a million calls of the same code";
  write("w.yaml", workload("w", 1));
  write("t.yaml", timeline("- {at: 5s, finish: {namespace: team, name: w}}\n"));
  for (const char* config : {"reconcile-at-once: true", "timer-every-ns: 0"}) {
    write("c.yaml", restless(config));
    const RunResult run = sluice("simulate --config c.yaml --until 10s queue.yaml w.yaml t.yaml");
    EXPECT_EQ(run.status, 3) << config;
    EXPECT_THAT(run.err, HasSubstr("stopped at 0s")) << config;
    EXPECT_THAT(run.err, HasSubstr("plugin restless was called ")) << config;
  }
}

TEST_F(Simulate, TimersOfPluginsKeepNobodyWaiting) {
  write("c.yaml", restless("timer-every-ns: 60000000000"));
  write("w.yaml", workload("w", 1, runtime("10s")));
  const RunResult run = sluice("simulate --config c.yaml --log - queue.yaml w.yaml");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(starts("0.0", "w", 1) + finished("10.0", "w")));
}

// C8: pods that are never ready, and no limit of requeues: evicted after a minute, back after 1, 2,
// 4 … 60 minutes, for ever.
TEST_F(Simulate, C8_WhatWouldGoOnForEverIsStoppedAndNamed) {
  write("c.yaml", kPodsReady);
  write("w.yaml", workload("hangs", 1));
  const RunResult run = sluice("simulate --plugins none --log - --config c.yaml queue.yaml w.yaml");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("would go on for ever: team/hangs was evicted 20 times "
                                 "(PodsReadyTimeout) since 0s, while nothing else came or ended"));
  EXPECT_THAT(run.err, HasSubstr("annotation sluice.dev/runtime"));
  EXPECT_THAT(run.err, HasSubstr("--until DURATION sets an end"));
  EXPECT_THAT(run.out, HasSubstr("\"endless\":true}\n"));  // the Summary
  std::size_t evictions = 0;
  for (std::size_t at = 0; (at = run.out.find("\"Evicted\"", at)) != std::string::npos; ++at)
    ++evictions;
  EXPECT_EQ(evictions, 20U);
  // A limit that the user gives is kept, all of it: 100 hours are 100 rounds.
  const RunResult bounded =
      sluice("simulate --plugins none --until 100h --config c.yaml queue.yaml w.yaml");
  EXPECT_EQ(bounded.status, 0);
  EXPECT_EQ(bounded.err, "");
  EXPECT_THAT(bounded.out, HasSubstr("\"virtualSeconds\":359"));
}

TEST_F(Simulate, C8_EventsEndsAndLimitsThatAreToComeAreWaitedFor) {
  write("c.yaml", kPodsReady);
  // The last event is long after hangs went round 20 times (16 h), and so is the end of `long`.
  write("w.yaml", workload("hangs", 1) + "---\n" + workload("long", 1, runtime("900h")) + "---\n" +
                      workload("bounded", 1, "", "maximumExecutionTimeSeconds: 360000"));
  write("t.yaml",
        timeline("- {at: 200h, apply: " + workload("late", 1, runtime("1s")) +
                 "}\n"
                 "- {at: 30s, patch: {kind: Workload, namespace: team, name: bounded, subresource: "
                 "status, merge: {status: {conditions: [{type: PodsReady, status: 'True', reason: "
                 "Started, message: '', lastTransitionTime: '2026-01-01T00:00:30Z'}]}}}}\n"));
  const RunResult run =
      sluice("simulate --plugins none --log - --config c.yaml queue.yaml w.yaml t.yaml");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out, HasSubstr("{\"t\":360000.0,\"type\":\"Deactivated\",\"workload\":"
                                 "\"team/bounded\""));
  EXPECT_THAT(run.out, HasSubstr(finished("720001.0", "late")));
  EXPECT_THAT(run.out, HasSubstr(finished("3240000.0", "long")));
  EXPECT_THAT(run.err, HasSubstr("since 900h"));
}

TEST_F(Simulate, C8_ALimitOfRequeuesIsAnEnd) {
  write("c.yaml",
        "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\nscheduling: "
        "{waitForPodsReady: {timeout: 60s, requeuingStrategy: {backoffLimitCount: 30}}}\n");
  write("w.yaml", workload("hangs", 1));
  const RunResult run = sluice("simulate --plugins none --log - --config c.yaml queue.yaml w.yaml");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("\"Deactivated\",\"workload\":\"team/hangs\""));
}

TEST_F(Simulate, TellsAStoryWithTablesAndASummary) {
  write("w.yaml", workload("a", 3) + "---\n" + workload("b", 3));
  const RunResult run = sluice("simulate --plugins none .");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("       0s  team/a                   is admitted\n"));
  EXPECT_THAT(run.out, HasSubstr("waits: WaitingForQuota: couldn't assign flavors"));
  EXPECT_THAT(run.out,
              HasSubstr("  QUEUE  COHORT  FLAVOR   RESOURCE  USED  NOMINAL  HOLDING  PENDING\n"
                        "  cq             default  cpu       3     4        1        1\n"));
  EXPECT_THAT(run.out, HasSubstr("  team/a    Admitted  cq: main ×3 (cpu default)\n"));
  EXPECT_THAT(run.out,
              testing::ContainsRegex("\n\\{\"type\":\"Summary\",\"workloads\":2,\"admitted\":1,"
                                     "\"evictions\":0,\"cycles\":[0-9]+,\"virtualSeconds\":0\\.0,"
                                     "\"wallSeconds\":[0-9.]+\\}\n$"));
}

TEST_F(Simulate, TheLogGoesToAFileAndTheSummaryToStdout) {
  write("w.yaml", workload("a", 3));
  const RunResult run = sluice("simulate --plugins none --log out.jsonl .");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out.find("{\"type\":\"Summary\""), 0U);
  EXPECT_EQ(read("out.jsonl"), starts("0.0", "a", 3));
}

}  // namespace
}  // namespace sluice::host
