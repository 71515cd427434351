// The table of what becomes of pods and their workload.
#include "../plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pods {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr const char* kShape = "aaaaaaaa";
constexpr const char* kOtherShape = "bbbbbbbb";

/// A pod of group g, which has `total`: it waits, with gate and finalizer. Older ones come first.
Pod waiting(const std::string& name, std::int32_t total = 3, const std::string& role = kShape) {
  Pod out;
  out.name = name;
  out.uid = "uid-" + name;
  out.created = "2026-01-01T00:00:0" + std::string(1, name.back()) + "Z";
  out.group = "g";
  out.queue = "q";
  out.role = role;
  out.total = total;
  out.gated = out.tracked = true;
  return out;
}
Pod running(const std::string& name, std::int32_t total = 3, const std::string& role = kShape) {
  Pod out = waiting(name, total, role);
  out.gated = false;
  out.bound = out.ready = true;
  out.evictions = 0;
  return out;
}
Pod ended(Pod pod, Phase phase) {
  pod.phase = phase;
  pod.ready = false;
  return pod;
}
Pod deleted(Pod pod) {
  pod.terminating = true;
  return pod;
}
Pod alone(Pod pod) {
  pod.group.clear();
  pod.role = "main";
  pod.total = 0;
  return pod;
}

Held queued(std::int32_t count = 3) {
  Held out;
  out.of_group = true;
  out.pod_sets = {{kShape, count}};
  return out;
}
Held admitted(std::int32_t count = 3) {
  Held out = queued(count);
  out.reserved = out.admitted = true;
  return out;
}
Held evicted(Held out) {
  out.reserved = out.admitted = false;
  ++out.evictions;
  out.stop_reason = "Preempted";
  out.stop_message = "Preempted to accommodate another";
  return out;
}
/// Not over: it holds its quota still.
Held being_evicted(Held out) {
  out = evicted(out);
  out.reserved = out.ending = true;
  return out;
}
Held finished(Held out) {
  out.finished = true;
  return out;
}
Held of_pod(Held out) {
  out.of_group = false;
  out.pod_sets = {{"main", 1}};
  return out;
}

// ---- before there is a workload

TEST(Composing, AGroupWaitsUntilAllItsPodsAreThere) {
  const Plan first = plan({waiting("p1")}, nullptr);
  EXPECT_THAT(first.create, IsEmpty());
  EXPECT_EQ(first.told, "p1");
  EXPECT_EQ(first.problem, "Waits until all 3 pods of group g are there");
  EXPECT_EQ(plan({waiting("p1"), waiting("p2")}, nullptr), Plan()) << "it is told once";
  const Plan last = plan({waiting("p1"), waiting("p2"), waiting("p3")}, nullptr);
  EXPECT_THAT(last.create, ElementsAre(NewPodSet{kShape, "p1", 3}));
  EXPECT_EQ(last.problem, "");
}

TEST(Composing, EachShapeIsAPodSet) {
  const Plan plan_of =
      plan({waiting("p1", 3, kOtherShape), waiting("p2", 3, kShape), waiting("p3", 3, kOtherShape)},
           nullptr);
  EXPECT_THAT(plan_of.create,
              ElementsAre(NewPodSet{kShape, "p2", 1}, NewPodSet{kOtherShape, "p1", 2}));
}

TEST(Composing, FastAdmissionTakesTheFirstForAll) {
  Pod first = waiting("p1");
  first.fast = true;
  EXPECT_THAT(plan({first}, nullptr).create, ElementsAre(NewPodSet{kShape, "p1", 3}));
}

TEST(Composing, TheYoungestOfTooManyGo) {
  const Plan plan_of =
      plan({waiting("p3", 2), waiting("p1", 2), waiting("p2", 2), waiting("p4", 2)}, nullptr);
  EXPECT_THAT(plan_of.excess, UnorderedElementsAre("p3", "p4"));
  EXPECT_THAT(plan_of.release, UnorderedElementsAre("p3", "p4"));
  EXPECT_THAT(plan_of.create, ElementsAre(NewPodSet{kShape, "p1", 2}));
}

TEST(Composing, PodsThatDisagreeAreTold) {
  Pod elsewhere = waiting("p3");
  elsewhere.queue = "r";
  const Plan by_queue = plan({waiting("p1"), waiting("p2"), elsewhere}, nullptr);
  EXPECT_EQ(by_queue.problem, "Pods p1 and p3 of group g have different queues");
  EXPECT_EQ(by_queue.told, "p3");
  EXPECT_EQ(by_queue.told_too, "p1") << "it was told that it waits until all are there";
  EXPECT_THAT(by_queue.create, IsEmpty());
  EXPECT_EQ(plan({waiting("p1", 2), waiting("p2", 3)}, nullptr).problem,
            "Pods p1 and p2 of group g have different values of "
            "kueue.x-k8s.io/pod-group-total-count");
}

TEST(Composing, MoreShapesThanPodSetsAreTold) {
  std::vector<Pod> pods;
  for (char c = 'a'; c <= 's'; ++c)  // 19
    pods.push_back(waiting(std::string("p") + c + "1", 19, std::string(8, c)));
  EXPECT_EQ(plan(pods, nullptr).problem,
            "The pods of group g are of 19 shapes; a group may have 18");
  pods.pop_back();
  for (Pod& pod : pods) pod.total = 18;
  EXPECT_EQ(plan(pods, nullptr).create.size(), 18U);
}

TEST(Composing, WhatHasNoFinalizerGetsOne) {
  Pod fresh = waiting("p1");
  fresh.tracked = false;
  EXPECT_THAT(plan({fresh}, nullptr).track, ElementsAre("p1"));
}

TEST(Composing, AnotherWorkloadOfTheNameIsLeftAlone) {
  Held foreign = queued();
  foreign.of_group = false;
  const Plan plan_of = plan({waiting("p1"), waiting("p2"), waiting("p3")}, &foreign);
  EXPECT_EQ(plan_of.problem,
            "A workload of the group's name, g, is there already, and is not that of a group of "
            "pods");
  EXPECT_THAT(plan_of.create, IsEmpty());
  EXPECT_FALSE(plan_of.remove_workload);
}

TEST(Composing, AWaitingWorkloadFollowsThePodsThatAreThereNow) {
  const std::vector<Pod> pods = {waiting("p1"), waiting("p2"), waiting("p3", 3, kOtherShape)};
  Held workload = queued();
  EXPECT_TRUE(plan(pods, &workload).remove_workload);
  workload.pod_sets = {{kShape, 2}, {kOtherShape, 1}};
  EXPECT_EQ(plan(pods, &workload), Plan()) << "it is of these pods";
}

// ---- starting and stopping

TEST(Running, AllStartWhenTheWorkloadIsAdmitted) {
  const std::vector<Pod> pods = {waiting("p1"), waiting("p2"), waiting("p3")};
  Held workload = queued();
  EXPECT_EQ(plan(pods, &workload), Plan()) << "it waits";
  workload.reserved = true;
  EXPECT_EQ(plan(pods, &workload), Plan()) << "its checks are not ready";
  workload.admitted = true;
  const Plan plan_of = plan(pods, &workload);
  EXPECT_THAT(plan_of.start, ElementsAre("p1", "p2", "p3"));
  EXPECT_EQ(plan_of.ready, false);
}

TEST(Running, EvictedPodsAreDeletedAndToldWhy) {
  Held workload = evicted(admitted(2));
  const Plan plan_of = plan({running("p1", 2), waiting("p2", 2)}, &workload);
  EXPECT_THAT(plan_of.stop, ElementsAre("p1")) << "p2 never ran: it waits on";
  EXPECT_EQ(plan_of.stop_because,
            (Ending{"WorkloadEvictedDueToPreempted", "Preempted to accommodate another"}));
  EXPECT_THAT(plan_of.release, IsEmpty()) << "until it is replaced it stays to be counted";
}

TEST(Running, AnEvictionIsOverWhenNothingRunsAnyMore) {
  const Held workload = being_evicted(admitted(2));
  const struct {
    const char* what;
    Pod first, second;
    bool over;
  } cases[] = {
      {"both run", running("p1", 2), running("p2", 2), false},
      {"both have their time to end", deleted(running("p1", 2)), deleted(running("p2", 2)), false},
      {"one has ended", ended(running("p1", 2), Phase::kFailed), deleted(running("p2", 2)), false},
      {"one never started", waiting("p1", 2), deleted(running("p2", 2)), false},
      {"both have ended", ended(running("p1", 2), Phase::kFailed),
       ended(running("p2", 2), Phase::kSucceeded), true},
      {"none ever started", waiting("p1", 2), waiting("p2", 2), true},
  };
  for (const auto& each : cases) {
    const Plan asked = plan({each.first, each.second}, &workload);
    EXPECT_EQ(asked.ended, each.over) << each.what;
    EXPECT_THAT(asked.start, IsEmpty()) << each.what;
    EXPECT_EQ(asked.finish, std::nullopt) << each.what;
  }
  const Held at_rest = evicted(admitted(2));
  EXPECT_FALSE(plan({waiting("p1", 2), waiting("p2", 2)}, &at_rest).ended);
}

TEST(Running, WhatRanBeforeAnEvictionStopsAlsoWhenQuotaIsThereAgain) {
  Held workload = admitted(1);
  workload.evictions = 1;
  EXPECT_THAT(plan({running("p1", 1)}, &workload).stop, ElementsAre("p1"));
  Pod started_since = running("p1", 1);
  started_since.evictions = 1;
  EXPECT_THAT(plan({started_since}, &workload).stop, IsEmpty());
  Pod of_kueue = running("p1", 1);
  of_kueue.evictions = -1;
  EXPECT_THAT(plan({of_kueue}, &workload).stop, IsEmpty()) << "nobody knows when it started";
}

TEST(Running, AReplacementStartsWhenThePodThatItReplacesHasEnded) {
  Held workload = admitted(1);
  const std::vector<Pod> both = {deleted(running("p1", 1)), waiting("p2", 1)};
  const Plan meanwhile = plan(both, &workload);
  EXPECT_THAT(meanwhile.start, IsEmpty()) << "two would run on quota for one";
  EXPECT_THAT(meanwhile.release, ElementsAre("p1")) << "it is replaced";
  EXPECT_THAT(meanwhile.excess, IsEmpty());
  const std::vector<Pod> after = {ended(deleted(running("p1", 1)), Phase::kFailed),
                                  waiting("p2", 1)};
  EXPECT_THAT(plan(after, &workload).start, ElementsAre("p2"));
}

TEST(Running, AFailedPodStaysUntilItIsReplaced) {
  Held workload = admitted(2);
  const Pod failed = ended(running("p1", 2), Phase::kFailed);
  const Plan lacking = plan({failed, running("p2", 2)}, &workload);
  EXPECT_THAT(lacking.release, IsEmpty());
  EXPECT_EQ(lacking.absent, 1);
  EXPECT_EQ(lacking.finish, std::nullopt) << "it may be tried again";
  const Plan replaced = plan({failed, running("p2", 2), waiting("p3", 2)}, &workload);
  EXPECT_THAT(replaced.release, ElementsAre("p1"));
  EXPECT_THAT(replaced.start, ElementsAre("p3"));
  EXPECT_EQ(replaced.absent, 0);
}

TEST(Running, OfFailedPodsTheOneThatEndedFirstIsReplacedFirst) {
  Held workload = admitted(2);
  Pod first = ended(running("p2", 2), Phase::kFailed);
  first.ended = "2026-01-01T00:01:00Z";
  Pod second = ended(running("p1", 2), Phase::kFailed);
  second.ended = "2026-01-01T00:02:00Z";
  EXPECT_THAT(plan({first, second, waiting("p3", 2)}, &workload).release, ElementsAre("p2"));
}

TEST(Running, TooManyOfAShapeGoButNoneThatRunsForOneThatWaits) {
  Held workload = admitted(1);
  const Plan plan_of = plan({waiting("p1", 1), running("p2", 1)}, &workload);
  EXPECT_THAT(plan_of.excess, ElementsAre("p1"));
  EXPECT_THAT(plan_of.start, IsEmpty());
}

TEST(Running, AShapeThatTheWorkloadDoesNotHaveIsTold) {
  Held workload = admitted(2);
  const Plan plan_of = plan({running("p1", 2), waiting("p2", 2, kOtherShape)}, &workload);
  EXPECT_EQ(plan_of.told, "p2");
  EXPECT_EQ(plan_of.problem, "Its shape is that of no pod set of the workload of group g");
  EXPECT_THAT(plan_of.start, IsEmpty());
}

TEST(Running, APodThatNeverRanGoesAtOnceWhenItIsDeleted) {
  EXPECT_THAT(plan({deleted(waiting("p1"))}, nullptr).release, ElementsAre("p1"));
  Pod bound = ended(deleted(running("p1")), Phase::kFailed);  // deleted on its way to its node
  bound.unstarted = true;
  EXPECT_THAT(plan({bound}, nullptr).release, ElementsAre("p1"));
  Held workload = queued();
  const Plan plan_of = plan({deleted(waiting("p1")), waiting("p2"), waiting("p3")}, &workload);
  EXPECT_THAT(plan_of.release, ElementsAre("p1"));
  EXPECT_EQ(plan_of.absent, 1);
}

TEST(Running, ReadyWhenAllAreReadyOrHaveSucceeded) {
  Held workload = admitted(2);
  Pod starting = running("p2", 2);
  starting.ready = false;
  EXPECT_EQ(plan({running("p1", 2), starting}, &workload).ready, false);
  EXPECT_EQ(plan({running("p1", 2), running("p2", 2)}, &workload).ready, true);
  const std::vector<Pod> one_done = {running("p1", 2), ended(running("p2", 2), Phase::kSucceeded)};
  EXPECT_EQ(plan(one_done, &workload).ready, true);
  EXPECT_EQ(plan({running("p1", 2)}, &workload).ready, false);
}

// Three of four succeeded and were deleted: of the four that have to be there one may run.
TEST(Running, PlacesThatWereGivenBackAreNotTakenAgain) {
  Held workload = admitted(4);
  workload.given_back = {{kShape, 3}};
  std::vector<Pod> pods = {running("p1", 4), waiting("p2", 4), waiting("p3", 4), waiting("p4", 4)};
  EXPECT_THAT(plan(pods, &workload).start, IsEmpty());
  pods[0] = waiting("p1", 4);
  EXPECT_THAT(plan(pods, &workload).start, ElementsAre("p1"));
  pods[3] = ended(running("p4", 4), Phase::kSucceeded);  // one of the three is there still
  EXPECT_THAT(plan(pods, &workload).start, ElementsAre("p1"));
}

// ---- ending

TEST(Ending, PodsThatSucceededGiveTheirQuotaBack) {
  Held workload = admitted(2);
  const std::vector<Pod> pods = {ended(running("p1", 2), Phase::kSucceeded), running("p2", 2)};
  EXPECT_THAT(plan(pods, &workload).reclaimable, ElementsAre(Pair(kShape, 1)));
  EXPECT_EQ(plan(pods, &workload).finish, std::nullopt);
}

// The API refuses a name that is none of the pod sets'.
TEST(Ending, AStrangerThatSucceededGivesNothingBack) {
  Held workload = admitted(2);
  Pod stranger = ended(running("p2", 2), Phase::kSucceeded);
  stranger.role = "another";
  const std::vector<Pod> pods = {ended(running("p1", 2), Phase::kSucceeded), stranger};
  EXPECT_THAT(plan(pods, &workload).reclaimable, ElementsAre(Pair(kShape, 1)));
}

TEST(Ending, TheGroupHasFinishedWhenAllSucceeded) {
  Held workload = admitted(2);
  const std::vector<Pod> pods = {ended(running("p1", 2), Phase::kSucceeded),
                                 ended(running("p2", 2), Phase::kSucceeded)};
  EXPECT_EQ(plan(pods, &workload).finish, (pods::Ending{"Succeeded", "Pods succeeded: 2/2."}));
  Held over = finished(workload);
  const Plan after = plan(pods, &over);
  EXPECT_THAT(after.release, UnorderedElementsAre("p1", "p2"));
  EXPECT_EQ(after.finish, std::nullopt);
}

TEST(Ending, AGroupThatMayNotBeTriedAgainFailsWhenNothingRuns) {
  Held workload = admitted(2);
  Pod failed = ended(running("p1", 2), Phase::kFailed);
  failed.retriable = false;
  EXPECT_EQ(plan({failed, running("p2", 2)}, &workload).finish, std::nullopt);
  EXPECT_EQ(plan({failed, ended(running("p2", 2), Phase::kSucceeded)}, &workload).finish,
            (pods::Ending{"Failed", "Pods succeeded: 1/2."}));
}

TEST(Ending, WhatEndedBecauseItWasStoppedDidNotSucceed) {
  Held workload = evicted(admitted(1));
  Pod pod = ended(deleted(running("p1", 1)), Phase::kSucceeded);  // it took SIGTERM well
  pod.stopped = true;
  const Plan plan_of = plan({pod}, &workload);
  EXPECT_EQ(plan_of.finish, std::nullopt);
  EXPECT_EQ(plan_of.absent, 1);
}

TEST(Ending, AServingGroupReplacesWhatEndedAndNeverFinishes) {
  Held workload = admitted(1);
  Pod done = ended(running("p1", 1), Phase::kSucceeded);
  done.serving = true;
  const Plan lacking = plan({done}, &workload);
  EXPECT_EQ(lacking.finish, std::nullopt);
  EXPECT_THAT(lacking.reclaimable, IsEmpty());
  EXPECT_EQ(lacking.absent, 1);
  Pod next = waiting("p2", 1);
  next.serving = true;
  EXPECT_THAT(plan({done, next}, &workload).start, ElementsAre("p2"));
}

/// A pod of a StatefulSet, whose first one queues for all.
Pod serving(Pod pod) {
  pod.serving = pod.fast = true;
  return pod;
}

// The next one has its name, and cannot be made before it is gone.
TEST(Serving, APodThatGoesIsNotKeptForItsSuccessor) {
  const Held workload = admitted(2);
  const Plan plan_of =
      plan({serving(deleted(running("p1", 2))), serving(running("p2", 2))}, &workload);
  EXPECT_THAT(plan_of.release, ElementsAre("p1"));
  EXPECT_THAT(plan_of.stop, IsEmpty());
}

TEST(Serving, OneTooManyWaits) {
  const Held workload = admitted(1);
  const Plan plan_of = plan({serving(running("p1", 1)), serving(waiting("p2", 1))}, &workload);
  EXPECT_THAT(plan_of.excess, IsEmpty());
  EXPECT_THAT(plan_of.start, IsEmpty());
  EXPECT_EQ(plan_of.told, "p2");
}

TEST(Serving, AnotherSizeIsAnotherWorkload) {
  const Held workload = admitted(3);
  EXPECT_TRUE(plan({serving(waiting("p1", 5))}, &workload).remove_workload);
  EXPECT_FALSE(plan({serving(waiting("p1", 3))}, &workload).remove_workload);
  EXPECT_FALSE(
      plan({serving(waiting("p1", 5)), serving(running("p2", 3))}, &workload).remove_workload)
      << "something of its last run is there still";
}

// Its pods have the names of the ones before, and may have another queue and size.
TEST(Serving, WhatWasDeletedAndMadeAnewGetsAnotherWorkload) {
  const auto first_of = [](Pod pod, const std::string& set) {
    pod.set_uid = set;
    return serving(pod);
  };
  Held workload = admitted(2);
  workload.sets = {"before"};
  Plan plan_of = plan({first_of(waiting("p1", 2), "now")}, &workload);
  EXPECT_TRUE(plan_of.remove_workload);
  EXPECT_THAT(plan_of.start, IsEmpty());
  plan_of =
      plan({first_of(waiting("p1", 2), "now"), serving(deleted(running("p2", 2)))}, &workload);
  EXPECT_FALSE(plan_of.remove_workload) << "a pod of the one before runs still";
  EXPECT_THAT(plan_of.start, IsEmpty());
  EXPECT_THAT(plan_of.release, ElementsAre("p2"));
  plan_of = plan({first_of(waiting("p1", 2), "before")}, &workload);
  EXPECT_THAT(plan_of.start, ElementsAre("p1"));
}

// Whoever made them makes them again at once.
TEST(Serving, PodsOfAWorkloadThatHasEndedGetAnother) {
  const Held workload = finished(admitted(2));
  Plan plan_of = plan({serving(running("p1", 2)), serving(waiting("p2", 2))}, &workload);
  EXPECT_THAT(plan_of.stop, ElementsAre("p1"));
  EXPECT_THAT(plan_of.excess, IsEmpty());
  EXPECT_FALSE(plan_of.remove_workload) << "one runs with its quota";
  plan_of = plan({serving(waiting("p2", 2))}, &workload);
  EXPECT_THAT(plan_of.excess, IsEmpty());
  EXPECT_TRUE(plan_of.remove_workload);
}

TEST(Ending, PodsOfAWorkloadThatWasEndedByOthersStop) {
  Held workload = finished(admitted(2));
  const Plan plan_of = plan({running("p1", 2), waiting("p2", 2)}, &workload);
  EXPECT_THAT(plan_of.stop, ElementsAre("p1"));
  EXPECT_EQ(plan_of.stop_because, (pods::Ending{"WorkloadFinished", "Its workload has finished"}));
  EXPECT_THAT(plan_of.excess, ElementsAre("p2"));
  EXPECT_THAT(plan_of.release, UnorderedElementsAre("p1", "p2"));
}

TEST(Ending, WhoDeletesTheWorkloadOfRunningPodsEndsThemAll) {
  const Plan plan_of = plan({running("p1", 2), waiting("p2", 2)}, nullptr);
  EXPECT_THAT(plan_of.stop, UnorderedElementsAre("p1", "p2"));
  EXPECT_EQ(plan_of.stop_because.reason, "WorkloadDeleted");
  EXPECT_THAT(plan_of.release, UnorderedElementsAre("p1", "p2"));
  EXPECT_THAT(plan_of.create, IsEmpty());
}

TEST(Ending, PodsThatAllEndedGetNoWorkloadAgain) {
  const Plan plan_of = plan({ended(running("p1", 1), Phase::kSucceeded)}, nullptr);
  EXPECT_THAT(plan_of.create, IsEmpty());
  EXPECT_THAT(plan_of.release, ElementsAre("p1"));
}

// ---- a pod that is in no group

TEST(Alone, IsItsOwnWorkload) {
  const Pod pod = alone(waiting("p1"));
  EXPECT_THAT(plan({pod}, nullptr).create, ElementsAre(NewPodSet{"main", "p1", 1}));
  Held workload = of_pod(admitted());
  EXPECT_THAT(plan({pod}, &workload).start, ElementsAre("p1"));
}

TEST(Alone, FinishesAsItEnds) {
  Held workload = of_pod(admitted());
  Pod pod = ended(alone(running("p1")), Phase::kSucceeded);
  EXPECT_EQ(plan({pod}, &workload).finish, (pods::Ending{"Succeeded", "The pod succeeded"}));
  pod = ended(pod, Phase::kFailed);
  EXPECT_EQ(plan({pod}, &workload).finish, (pods::Ending{"Failed", "The pod failed"}));
  pod.message = "out of ideas";
  EXPECT_EQ(plan({pod}, &workload).finish,
            (pods::Ending{"Failed", "The pod failed: out of ideas"}));
  EXPECT_THAT(plan({pod}, &workload).reclaimable, IsEmpty());
}

TEST(Alone, IsDeletedWhenItIsEvictedAndNothingWaitsForIt) {
  Held workload = evicted(of_pod(admitted()));
  const Pod pod = alone(running("p1"));
  EXPECT_THAT(plan({pod}, &workload).stop, ElementsAre("p1"));
  EXPECT_THAT(plan({deleted(pod)}, &workload).release, ElementsAre("p1"));
}

}  // namespace
}  // namespace pods
