// One door: what is simulated is what a host does. Each measured case, and each way of writing,
// gives byte for byte the same log, and the same objects at the end (doors.hpp).
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/host/simulate/doors.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

TEST_F(DoorAgreement, EveryMeasuredCase) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(SLUICE_SOURCE_DIR "/tests/decisions/cases"))
    if (const std::string name = entry.path().filename(); !name.ends_with(".expect.json"))
      cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  ASSERT_GT(cases.size(), 50U);
  // All of them, or every n-th: the number of shares.
  const std::size_t step =
      cases.size() / static_cast<std::size_t>(trial::share_of(static_cast<int>(cases.size())));
  for (std::size_t i = 0; i < cases.size(); i += step) expect_same({cases[i].string()});
}

TEST_F(DoorAgreement, TheQuickStartWithItsJobs) {
  const std::string examples = SLUICE_SOURCE_DIR "/examples/";
  expect_same({examples + "quickstart"});
  expect_same({examples + "quickstart/1-capacity.yaml", examples + "quickstart/2-teams.yaml",
               examples + "live/team-a.yaml", examples + "live/team-b.yaml"});
}

using testing::HasSubstr;
using testing::Not;

std::string patch(const std::string& at, const std::string& name, const std::string& merge,
                  const std::string& more = "", const std::string& kind = "Workload") {
  return "- {at: " + at + ", patch: {kind: " + kind + ", namespace: ns, name: " + name + more +
         ", merge: " + merge + "}}\n";
}
std::string status(const std::string& at, const std::string& name, const std::string& merge) {
  return patch(at, name, "{status: " + merge + "}", ", subresource: status");
}
std::string remove(const std::string& at, const std::string& kind, const std::string& name) {
  return "- {at: " + at + ", delete: {kind: " + kind + ", namespace: ns, name: " + name + "}}\n";
}
std::string starts(const std::string& t, const std::string& name) {
  return "{\"t\":" + t + ",\"type\":\"Admitted\",\"workload\":\"ns/" + name + "\"}";
}
std::string condition(const std::string& type, const std::string& more = "") {
  return "{conditions: [{type: " + type +
         ", status: 'True', reason: Done, message: over, lastTransitionTime: "
         "'2026-01-01T00:00:05Z'}]" +
         more + "}";
}

TEST_F(TwoDoors, ADeletedWorkloadWithAFinalizerKeepsItsQuota) {
  const std::string log = play(remove("5s", "Workload", "a"));
  EXPECT_THAT(log, Not(HasSubstr(starts("5.0", "b"))));
}

TEST_F(TwoDoors, C10_TheLastFinalizerLetsItGo) {
  const std::string log =
      play(remove("5s", "Workload", "a") + patch("7s", "a", "{metadata: {finalizers: []}}"));
  EXPECT_THAT(log, HasSubstr(starts("7.0", "b")));
}

TEST_F(TwoDoors, C10_AFinalizerThatComesAfterTheDeleteIsRefused) {
  const std::string log =
      play(remove("5s", "Workload", "a") +
           patch("6s", "a", "{metadata: {finalizers: [example.com/hold, example.com/more]}}") +
           patch("7s", "a", "{metadata: {finalizers: null}}"));
  EXPECT_THAT(log, HasSubstr("{\"t\":6.0,\"type\":\"Skipped\",\"workload\":\"ns/a\""));
  EXPECT_THAT(log, HasSubstr(starts("7.0", "b")));
}

TEST_F(TwoDoors, C10_KueuesFinalizerHoldsNothingThatRunsNowhere) {
  const std::string log =
      play(patch("4s", "a", "{metadata: {finalizers: [kueue.x-k8s.io/resource-in-use]}}") +
           remove("5s", "Workload", "a"));
  EXPECT_THAT(log, HasSubstr(starts("5.0", "b")));
}

TEST_F(TwoDoors, AStatusThatSaysFinishedEndsTheWorkload) {
  const std::string log = play(status("5s", "a", condition("Finished")));
  EXPECT_THAT(log, HasSubstr("{\"t\":5.0,\"type\":\"Finished\",\"workload\":\"ns/a\""));
  EXPECT_THAT(log, HasSubstr(starts("5.0", "b")));
}

TEST_F(TwoDoors, C10_OneThatWaitsMayBeFinishedToo) {
  const std::string log = play(status("5s", "b", condition("Finished")));
  EXPECT_THAT(log, HasSubstr("{\"t\":5.0,\"type\":\"Finished\",\"workload\":\"ns/b\""));
}

TEST_F(TwoDoors, C10_WhatBelongsToTheSchedulerIsNotTakenFromAStatus) {
  const std::string log = play(
      status("5s", "b",
             condition("Admitted",
                       ", admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1, "
                       "flavors: {cpu: f}, resourceUsage: {cpu: 1}}]}")) +
      status("6s", "a", "{admission: null, conditions: []}"));
  EXPECT_THAT(log, Not(HasSubstr(starts("5.0", "b"))));
  EXPECT_THAT(log, Not(HasSubstr("Evicted")));
}

TEST_F(TwoDoors, C10_ReclaimablePodsOfAStatusFreeQuota) {
  const std::string log = play(status("5s", "a", "{reclaimablePods: [{name: main, count: 1}]}") +
                               status("6s", "a", "{reclaimablePods: [{name: main, count: 7}]}"));
  EXPECT_THAT(log, HasSubstr(starts("5.0", "b")));
  EXPECT_THAT(log, HasSubstr("{\"t\":6.0,\"type\":\"Skipped\",\"workload\":\"ns/a\""));
}

// a and b and c: c is owned by b, and the owner of d does not exist.
constexpr const char* kOwned =
    "- {at: 1s, apply: {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: NAME, "
    "namespace: ns, ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: "
    "OWNER, uid: UID}]}, spec: {queueName: lq, podSets: [{name: main, count: 1, template: {spec: "
    "{containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}}\n";

std::string owned(std::string name, const std::string& owner, const std::string& uid) {
  std::string out = kOwned;
  for (const auto& [from, to] : {std::pair("NAME", name), {"OWNER", owner}, {"UID", uid}})
    out.replace(out.find(from), std::string(from).size(), to);
  return out;
}

TEST_F(TwoDoors, C10_WhatAWorkloadOwnsGoesWithIt) {
  // b is the fifth document of the manifests, and UIDs are given in their order.
  const std::string log =
      play(owned("c", "b", "00000000-0000-4000-8000-000000000005") + owned("d", "b", "another") +
           remove("5s", "Workload", "b") + status("6s", "a", condition("Finished")));
  EXPECT_THAT(log, HasSubstr(starts("6.0", "d")));
  EXPECT_THAT(log, Not(HasSubstr("\"Admitted\",\"workload\":\"ns/c\"")));
  EXPECT_THAT(log, HasSubstr("{\"t\":5.0,\"type\":\"State\",\"workloads\":{\"ns/a\":{\"state\":"
                             "\"Admitted\",\"podSets\":[{\"name\":\"main\",\"count\":1,\"flavors\":"
                             "{\"cpu\":\"f\"}}]},\"ns/d\":"));
}

TEST_F(TwoDoors, C10_ANamespaceTakesAllWithItThatNothingHolds) {
  const std::string log = play("- {at: 5s, delete: {kind: Namespace, name: ns}}\n" +
                               patch("6s", "a", "{metadata: {finalizers: []}}"));
  EXPECT_THAT(log, HasSubstr("{\"t\":5.0,\"type\":\"State\",\"workloads\":{\"ns/a\":"));
  EXPECT_THAT(log, HasSubstr("{\"t\":6.0,\"type\":\"State\",\"workloads\":{}}"));
}

TEST_F(TwoDoors, C10_AQueueThatGoesLeavesThoseThatRun) {
  const std::string log = play(remove("5s", "LocalQueue", "lq") +
                               "- {at: 6s, delete: {kind: ClusterQueue, name: cq}}\n" +
                               status("7s", "a", condition("Finished")));
  EXPECT_THAT(log, Not(HasSubstr("Evicted")));
  EXPECT_THAT(log, Not(HasSubstr("\"Admitted\",\"workload\":\"ns/b\"")));
}

TEST_F(TwoDoors, WhatTheHostRefusesIsSkippedAndChangesNothing) {
  for (const char* merge :
       {"{spec: {podSets: []}}", "{spec: {priority: high}}", "{metadata: {labels: {'a b': c}}}",
        "{metadata: {uid: another}}", "{metadata: {name: another}}", "{kind: Job}",
        "{apiVersion: v1}", "{spec: null}", "{metadata: {resourceVersion: '1234567'}}",
        "{metadata: {finalizers: ['no domain']}}"}) {
    const std::string log = play(patch("5s", "a", merge));
    EXPECT_THAT(log, HasSubstr("\"type\":\"Skipped\"")) << merge;
    EXPECT_THAT(log, Not(HasSubstr(starts("5.0", "b")))) << merge;
  }
}

}  // namespace
}  // namespace sluice::host
