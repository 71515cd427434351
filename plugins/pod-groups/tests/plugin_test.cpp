// The plugin against a host that is not there: what it writes, and what a restart leaves of it.
#include "../shape.hpp"
#include "world.hpp"

namespace pods {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using namespace sluice::testing;

TEST(Plugin, APodGetsAWorkloadAndStartsWithIt) {
  World world;
  world.create("a");
  EXPECT_TRUE(world.facts("a").tracked);
  ASSERT_EQ(world.host.objects().list("Workload").size(), 1U);
  const Json workload = world.host.objects().list("Workload").front();
  const std::string name = workload.string_or("metadata.name", "");
  EXPECT_TRUE(name.starts_with("pod-a-"));
  EXPECT_EQ(workload.string_or("spec.queueName", ""), "q");
  EXPECT_EQ(workload.find("spec.podSets")->items()[0].find("template.spec.schedulingGates"),
            nullptr);
  EXPECT_TRUE(world.facts("a").gated);
  world.admit(name, "main");
  EXPECT_FALSE(world.facts("a").gated);
  EXPECT_THAT(world.events_of("a"), ElementsAre("CreatedWorkload", "Started"));
}

TEST(Plugin, AGroupIsOneWorkloadThatAllItsPodsOwn) {
  World world;
  world.create("a", "g", 2);
  EXPECT_EQ(world.found(World::workload("g")), nullptr);
  world.create("b", "g", 2);
  const Json* workload = world.found(World::workload("g"));
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(workload->find("metadata.ownerReferences")->size(), 2U);
  EXPECT_EQ(workload->find("spec.podSets")->items()[0].int_or("count", 0), 2);
  const std::string role = workload->find("spec.podSets")->items()[0].string_or("name", "");
  world.restart();  // nothing is only in memory
  world.admit("g", role);
  EXPECT_FALSE(world.facts("a").gated);
  EXPECT_FALSE(world.facts("b").gated);
  world.set_status(World::pod("a"), R"({"phase":"Succeeded"})");
  EXPECT_EQ(world.found(World::workload("g"))->find("status.reclaimablePods")->dump(),
            R"([{"name":")" + role + R"(","count":1}])");
  world.set_status(World::pod("b"), R"({"phase":"Succeeded"})");
  const Json* end = sluice::find_condition(*world.found(World::workload("g")), "Finished");
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->string_or("message", ""), "Pods succeeded: 2/2.");
  world.plugin->reconcile(World::workload("g"));
  EXPECT_FALSE(world.facts("a").tracked);
}

TEST(Plugin, LabelsThatAreNamedAreThoseOfTheWorkload) {
  World world(R"({"labelKeysToCopy":["team","stage"]})");
  world.create("a", "g", 2, R"(,"team":"x","kept":"here")");
  world.create("b", "g", 2, R"(,"stage":"y")");
  const Json labels = *world.found(World::workload("g"))->find("metadata.labels");
  EXPECT_EQ(labels.dump(), R"({"team":"x"})");  // b is of the pod set that a stands for
}

// On a cluster an admission that was not stored is taken back, and with it the start of the pods;
// and the plugin may hear of the workload first.
TEST(Plugin, AStartThatWasTakenBackIsNoReasonToStopAnything) {
  World world;
  world.create("a", "g", 2);
  world.create("b", "g", 2);
  const std::vector<ObjectRef> all{World::pod("a"), World::pod("b"), World::workload("g")};
  std::vector<Json> before;
  for (const ObjectRef& each : all) before.push_back(*world.found(each));
  const std::string role = before[2].find("spec.podSets")->items()[0].string_or("name", "");
  world.admit("g", role);
  for (const char* name : {"a", "b"}) world.plugin->reconcile(World::pod(name));
  EXPECT_FALSE(world.facts("a").gated);
  for (const Json& each : before) world.host.objects().put(each);
  world.plugin->reconcile(World::workload("g"));
  for (const char* name : {"a", "b"}) {
    ASSERT_NE(world.found(World::pod(name)), nullptr);
    EXPECT_TRUE(world.facts(name).gated);
    EXPECT_FALSE(world.facts(name).stopped);
  }
  world.admit("g", role);
  EXPECT_FALSE(world.facts("a").gated);
  EXPECT_FALSE(world.facts("b").gated);
}

TEST(Plugin, SaysAndDoesNothingTwice) {
  World world;
  world.create("a", "g", 2);
  world.create("b", "g", 2);
  const std::string role =
      world.found(World::workload("g"))->find("spec.podSets")->items()[0].string_or("name", "");
  world.admit("g", role);
  const auto writes = world.host.objects().writes();
  const auto events = world.host.events().size();
  for (int i = 0; i < 2; ++i) {
    world.plugin->reconcile(World::workload("g"));
    world.plugin->reconcile(World::pod("a"));
    world.plugin->reconcile(World::pod("b"));
  }
  EXPECT_EQ(world.host.objects().writes(), writes);
  EXPECT_EQ(world.host.events().size(), events);
}

// Where a call fails, nothing of what it wrote is kept.
TEST(Plugin, WhatWasWrittenAndNotKeptIsWrittenAgain) {
  World world;
  world.create("a", "g", 2);
  ASSERT_TRUE(world.facts("a").tracked);
  Json as_before = *world.found(World::pod("a"));
  as_before["metadata"].erase("finalizers");
  world.host.objects().put(as_before);
  world.create("b", "g", 2);
  EXPECT_TRUE(world.facts("a").tracked);
  EXPECT_TRUE(world.facts("b").tracked);
}

TEST(Plugin, WithoutAllPodsAWorkloadTakesNoPart) {
  World world;
  world.create("a", "g", 2);
  world.create("b", "g", 2);
  const std::string role =
      world.found(World::workload("g"))->find("spec.podSets")->items()[0].string_or("name", "");
  FakeWorkload seen("ns", "g");
  seen.annotation(std::string(kIsGroup), "true");
  EXPECT_EQ(world.plugin->traits(seen).shape_key, "pods") << "so that it is claimed";
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, std::nullopt);
  world.admit("g", role);
  world.set_status(World::pod("a"), R"({"phase":"Failed"})");
  EXPECT_THAT(world.host.traits_changed(), ElementsAre("ns/g"));
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, "Waits for 1 of its 2 pods to be made anew");
  TraitsAsked with_quota;
  with_quota.holds_quota = true;
  EXPECT_EQ(world.plugin->traits(seen, with_quota).takes_no_part, std::nullopt);
  EXPECT_TRUE(
      sluice::condition_is_true(*world.found(World::workload("g")), "WaitingForReplacementPods"));
  world.create("c", "g", 2);
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, std::nullopt);
  EXPECT_FALSE(
      sluice::condition_is_true(*world.found(World::workload("g")), "WaitingForReplacementPods"));
  EXPECT_FALSE(world.facts("a").tracked) << "it was replaced";
}

// The old pod is let go then, and a workload goes with its last owner.
TEST(Plugin, TheOnlyPodOfAGroupIsReplacedOnTheSameQuota) {
  World world;
  world.create("a", "g", 1);
  const std::string role = world.role_of("g");
  world.admit("g", role);
  world.bind("a");
  world.set_status(World::pod("a"), R"({"phase":"Failed","containerStatuses":[
    {"name":"c","state":{"terminated":{"exitCode":1}}}]})");
  Json deleted = *world.found(World::pod("a"));
  deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  world.host.objects().put(deleted);
  world.plugin->reconcile(World::pod("a"));
  ASSERT_NE(world.found(World::pod("a")), nullptr) << "until it is replaced";
  world.create("b", "g", 1);
  EXPECT_EQ(world.found(World::pod("a")), nullptr);
  ASSERT_NE(world.found(World::workload("g")), nullptr);
  EXPECT_FALSE(world.facts("b").gated);
}

TEST(Plugin, AnEvictedGroupHasEndedWhenNoPodOfItRunsAnyMore) {
  World world;
  world.create("a", "g", 2);
  world.create("b", "g", 2);
  FakeWorkload seen("ns", "g");
  seen.annotation(std::string(kIsGroup), "true");
  EXPECT_TRUE(world.plugin->traits(seen).ends_later);
  world.admit("g", world.role_of("g"));
  for (const char* name : {"a", "b"}) world.bind(name);
  world.evict("g", {"a", "b"});
  world.plugin->reconcile(World::workload("g"));
  world.goes("a", "g");
  EXPECT_THAT(world.host.ended(), ElementsAre()) << "b has its time to end";
  world.restart();  // nothing is only in memory
  world.plugin->reconcile(World::workload("g"));
  EXPECT_THAT(world.host.ended(), ElementsAre());
  world.set_status(World::pod("b"), R"({"phase":"Failed","containerStatuses":[
      {"name":"c","state":{"terminated":{"exitCode":143}}}]})");
  EXPECT_THAT(world.host.ended(), Contains("ns/g"));
  // Asked for its traits next, it says that it may not be queued.
  EXPECT_EQ(world.host.traits_changed().back(), "ns/g");
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, "Waits for 2 of its 2 pods to be made anew");
}

// The host begins anew, and asks for traits before anything was looked at.
TEST(Plugin, AnEvictedGroupWithoutPodsWaitsForThemAfterARestart) {
  World world;
  world.create("a", "g", 2);
  world.create("b", "g", 2);
  world.admit("g", world.role_of("g"));
  for (const char* name : {"a", "b"}) world.bind(name);
  world.evict("g", {"a", "b"});
  for (const char* name : {"a", "b"}) world.goes(name, "g");
  world.set_status(World::workload("g"), R"({"conditions":[
      {"type":"QuotaReserved","status":"False","reason":"OnHold"},
      {"type":"Evicted","status":"True","reason":"Preempted"}]})");
  world.restart();
  const std::string why = "Waits for 2 of its 2 pods to be made anew";
  FakeWorkload seen("ns", "g");
  seen.annotation(std::string(kIsGroup), "true")
      .condition("Evicted", "True", {"Preempted", {}, 0})
      .condition("QuotaReserved", "False", {"OnHold", why, 0});
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, why) << "as it was told before";
  world.plugin->reconcile(World::workload("g"));
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, why);
  for (const char* name : {"c", "d"}) world.create(name, "g", 2);
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, std::nullopt);
}

TEST(Plugin, AnEvictedGroupWhosePodsAreThereIsQueuedOnceTheyWereLookedAt) {
  World world;
  world.create("a", "g", 1);
  world.restart();
  FakeWorkload seen("ns", "g");
  seen.annotation(std::string(kIsGroup), "true").condition("Evicted", "True");
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, "Waits for its pods to be looked at");
  const auto asked_before = world.host.traits_changed().size();
  world.plugin->reconcile(World::workload("g"));
  EXPECT_EQ(world.host.traits_changed().size(), asked_before + 1);
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, std::nullopt);
}

TEST(Plugin, AnEvictedGroupOfWhichNothingRanHasEndedAtOnce) {
  World world;
  world.create("a", "g", 1);
  world.admit("g", world.role_of("g"));
  world.plugin->reconcile(World::pod("a"));
  ASSERT_FALSE(world.facts("a").gated);
  world.evict("g", {});  // no node had it
  world.plugin->reconcile(World::pod("a"));
  EXPECT_THAT(world.host.ended(), Contains("ns/g"));
}

TEST(Plugin, APodAloneThatIsGoneHasEnded) {
  World world;
  world.create("a");
  const std::string name =
      world.host.objects().list("Workload").front().string_or("metadata.name", "");
  world.admit(name, "main");
  world.bind("a");
  world.evict(name, {"a"});
  EXPECT_THAT(world.host.ended(), ElementsAre());
  world.goes("a", name);  // its workload goes when somebody finds that its owner is gone
  EXPECT_THAT(world.host.ended(), ElementsAre("ns/" + name));
  FakeWorkload seen("ns", name);
  seen.controller = std::pair("Pod", "a");
  EXPECT_EQ(world.plugin->traits(seen).takes_no_part, "Waits for its pods to be made anew");
}

TEST(Plugin, APodThatIsThereAllTheSameIsLookedAtBeforeTheEndIsTold) {
  // As on a cluster: its deletion was refused, because a node had it, and the workload is heard of
  // first.
  World world;
  world.create("a", "g", 1);
  world.admit("g", world.role_of("g"));
  Json running = *world.found(World::pod("a"));
  running["spec"]["nodeName"] = "n";
  world.goes("a", "g");
  world.host.objects().put(running);
  world.evict("g", {});
  EXPECT_THAT(world.host.ended(), ElementsAre());
}

TEST(Plugin, InASimulationNothingRunsOn) {
  World world;
  world.host.simulate(true);
  FakeWorkload seen("ns", "g");
  seen.annotation(std::string(kIsGroup), "true");
  EXPECT_FALSE(world.plugin->traits(seen).ends_later);
}

TEST(Plugin, OtherWorkloadsAreNotClaimed) {
  World world;
  EXPECT_EQ(world.plugin->traits(FakeWorkload("ns", "w")).shape_key, std::nullopt);
}

TEST(Plugin, AClassThatIsNotThereIsWaitedFor) {
  World world;
  world.create("a", "", 0, R"(,"kueue.x-k8s.io/priority-class":"high")");
  EXPECT_TRUE(world.host.objects().list("Workload").empty());
  EXPECT_THAT(world.events_of("a"), ElementsAre("WorkloadPriorityClassNotFound"));
  world.host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
    "metadata":{"name":"high"},"value":7})");
  world.plugin->reconcile({std::string(kKueue), "WorkloadPriorityClass", "", "high"});
  ASSERT_EQ(world.host.objects().list("Workload").size(), 1U);
  EXPECT_EQ(world.host.objects().list("Workload").front().int_or("spec.priority", 0), 7);
}

TEST(Plugin, OfThoseThatWaitForAClassOneThatIsRefusedKeepsNoOtherWaiting) {
  World world;
  for (const char* name : {"a", "b"})
    world.create(name, "", 0, R"(,"kueue.x-k8s.io/priority-class":"high")");
  const std::string uid = world.found(World::pod("a"))->string_or("metadata.uid", "");
  const std::string of_a = workload_name("a", uid);
  world.host.objects().refuse("Workload", "ns", of_a);
  world.host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
    "metadata":{"name":"high"},"value":7})");
  const ObjectRef high{std::string(kKueue), "WorkloadPriorityClass", "", "high"};
  EXPECT_EQ(world.plugin->reconcile(high).after_ms, 30'000);
  EXPECT_EQ(world.host.objects().list("Workload").size(), 1U) << "that of b";
  EXPECT_EQ(world.found(World::workload(of_a)), nullptr);
  EXPECT_THAT(world.events_of("a"), Contains("ErrWorkloadCompose"));

  world.host.objects().refuse("Workload", "ns", of_a, false);
  EXPECT_EQ(world.plugin->reconcile(high).after_ms, 0);
  EXPECT_NE(world.found(World::workload(of_a)), nullptr);
}

TEST(Plugin, AWaitingWorkloadFollowsTheLabelsOfItsPods) {
  World world;
  world.create("a");
  const std::string name =
      world.host.objects().list("Workload").front().string_or("metadata.name", "");
  Json pod = *world.found(World::pod("a"));
  pod["metadata"]["labels"][kQueue] = "r";
  world.host.objects().put(pod);
  world.plugin->reconcile(World::pod("a"));
  EXPECT_EQ(world.found(World::workload(name))->string_or("spec.queueName", ""), "r");
}

TEST(Plugin, APodThatContradictsItsAdmissionEndsTheWorkload) {
  World world;
  world.host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
    "metadata":{"name":"f"},"spec":{"nodeLabels":{"kind":"spot"}}})");
  world.create("a");
  Json pod = *world.found(World::pod("a"));
  pod["spec"]["nodeSelector"]["kind"] = "on-demand";
  world.host.objects().put(pod);
  const std::string name =
      world.host.objects().list("Workload").front().string_or("metadata.name", "");
  world.admit(name, "main");
  const Json* end = sluice::find_condition(*world.found(World::workload(name)), "Finished");
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->string_or("reason", ""), "FailedToStart");
  EXPECT_TRUE(world.facts("a").gated);
  EXPECT_THAT(world.host.events(),
              Contains(Field(&RecordedEvent::message,
                             "nodeSelector kind of the pod is \"on-demand\", but the admission "
                             "wants \"spot\"")));
}

// ---- what was found with Kueue's own tests

// Its names of pod sets are other hashes of the same shapes.
TEST(Plugin, APodIsOfThePodSetOfItsShapeWhateverThatIsCalled) {
  World world;
  world.host.objects().put(Json::parse(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"g",)"
      R"("namespace":"ns","annotations":{"kueue.x-k8s.io/is-group-workload":"true"}},)"
      R"("spec":{"queueName":"q","podSets":[{"name":"0a1b2c3d","count":1,"template":{"spec":)"
      R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]}})"));
  world.create("p", "g", 1);
  world.plugin->reconcile(World::pod("p"));
  EXPECT_EQ(world.facts("p").role, "0a1b2c3d");
  world.admit("g", "0a1b2c3d");
  EXPECT_FALSE(world.facts("p").gated);
}

TEST(Plugin, AWorkloadOfSomebodyElseStaysAsItIs) {
  World world;
  world.host.objects().put(Json::parse(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"mine",)"
      R"("namespace":"ns"},"spec":{"queueName":"other","priority":5,"podSets":[)"
      R"({"name":"main","count":1}]}})"));
  const std::string before = world.found(World::workload("mine"))->dump();
  world.create("p", "mine", 1);
  EXPECT_TRUE(world.facts("p").gated);
  EXPECT_EQ(world.events_of("p"), std::vector<std::string>{"WorkloadNameConflict"});
  EXPECT_EQ(world.found(World::workload("mine"))->dump(), before);
}

}  // namespace
}  // namespace pods
