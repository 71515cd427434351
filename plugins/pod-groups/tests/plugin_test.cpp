// The plugin against a host that is not there: what it writes, and what a restart leaves of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sluice/testing.hpp>

#include "../facts.hpp"
#include "../names.hpp"
#include "../parents.hpp"
#include "../shape.hpp"

namespace pods {
namespace {

using sluice::Json;
using sluice::ObjectRef;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using namespace sluice::testing;

struct World {
  FakeHost host;
  std::unique_ptr<TestedPlugin> plugin;

  World() { restart(); }
  void restart() {
    plugin.reset();
    plugin = std::make_unique<TestedPlugin>(host);
  }

  static ObjectRef pod(const std::string& name) { return {"v1", "Pod", "ns", name}; }
  static ObjectRef workload(const std::string& name) {
    return {std::string(kKueue), "Workload", "ns", name};
  }

  /// As the host stores it, with what the plugin makes of it.
  void create(const std::string& name, const std::string& group = "", int total = 0,
              const std::string& labels = "") {
    Json object = Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                              R"(","namespace":"ns","labels":{"kueue.x-k8s.io/queue-name":"q")" +
                              labels + R"(}},"spec":{"containers":[{"name":"c",
                              "resources":{"requests":{"cpu":"1"}}}]}})");
    if (!group.empty()) {
      object["metadata"]["labels"][kGroup] = group;
      object["metadata"]["annotations"][kTotal] = std::to_string(total);
    }
    const auto held =
        plugin->set_defaults({sluice::Operation::kCreate, "v1", "Pod", object.dump(), ""});
    host.objects().put(Json::parse(held.value()));
    plugin->reconcile(pod(name));
  }
  void set_status(const ObjectRef& ref, const std::string& status) {
    Json object = *host.objects().find(ref.kind, ref.ns, ref.name);
    object["status"] = Json::parse(status);
    host.objects().put(object);
    plugin->reconcile(ref);
  }
  void admit(const std::string& name, const std::string& pod_set, const std::string& more = "") {
    set_status(workload(name),
               R"({"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved"},
               {"type":"Admitted","status":"True","reason":"Admitted"}],
               "admission":{"clusterQueue":"cq","podSetAssignments":[{"name":")" +
                   pod_set + R"(","flavors":{"cpu":"f"}}]})" + more + "}");
  }
  /// As the host does it where it ends later: admitted still, and Evicted. Those of its pods that
  /// are deleted then, and run, have some time to end.
  void evict(const std::string& name, const std::vector<std::string>& running) {
    Json object = *found(workload(name));
    object["status"]["conditions"].push_back(Json::parse(
        R"({"type":"Evicted","status":"True","reason":"Preempted","message":"for b"})"));
    object["status"]["schedulingStats"] = Json::parse(R"({"evictions":[{"count":1}]})");
    host.objects().put(object);
    std::vector<Json> pods;
    for (const std::string& each : running) pods.push_back(*found(pod(each)));
    plugin->reconcile(workload(name));
    host.objects().put(object);
    for (Json& each : pods) {
      EXPECT_EQ(found(pod(each.string_or("metadata.name", ""))), nullptr) << "it is deleted";
      each["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      each["metadata"]["deletionGracePeriodSeconds"] = 30;
      host.objects().put(each);
    }
    for (const std::string& each : running) plugin->reconcile(pod(each));
  }
  std::string role_of(const std::string& name) {
    return found(workload(name))->find("spec.podSets")->items()[0].string_or("name", "");
  }
  /// A node has it, and it runs there.
  void bind(const std::string& name) {
    Json object = *found(pod(name));
    object["spec"]["nodeName"] = "n";
    object["status"] = Json::parse(R"({"phase":"Running","containerStatuses":[
      {"name":"c","state":{"running":{}}}]})");
    host.objects().put(object);
    plugin->reconcile(pod(name));
  }
  /// Its node has let go of it. What it owned is there still.
  void goes(const std::string& name, const std::string& of) {
    const Json kept = *found(workload(of));
    host.objects().remove("Pod", "ns", name);
    host.objects().put(kept);
    plugin->reconcile(pod(name));
  }
  const Json* found(const ObjectRef& ref) {
    return host.objects().find(ref.kind, ref.ns, ref.name);
  }
  Pod facts(const std::string& name) { return pod_of(*found(pod(name))); }
  std::vector<std::string> events_of(const std::string& name) {
    std::vector<std::string> out;
    for (const RecordedEvent& event : host.events())
      if (event.name == name) out.push_back(event.reason);
    return out;
  }
};

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

// ---- pods of StatefulSets, which are told by it

const std::string kGroupOfSet = group_of_set("web", "u1");

ObjectRef set_ref() { return {kSetVersion, kSetKind, "ns", "web"}; }

void put_set(World& world, const std::string& queue, int replicas) {
  world.host.objects().put(Json::parse(
      R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web","namespace":"ns",)"
      R"("uid":"u1","labels":{"kueue.x-k8s.io/queue-name":")" +
      queue + R"("}},"spec":{"replicas":)" + std::to_string(replicas) + "}}"));
  world.plugin->reconcile(set_ref());
}

void put_pod_of_set(World& world, const std::string& name) {
  const std::string object =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
      R"(","namespace":"ns","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet",)"
      R"("name":"web","uid":"u1","controller":true}],"annotations":{)"
      R"("kueue.x-k8s.io/pod-suspending-parent":"statefulset"}},"spec":{"containers":[{"name":"c",)"
      R"("resources":{"requests":{"cpu":"1"}}}]}})";
  const auto held =
      world.plugin->set_defaults({sluice::Operation::kCreate, "v1", "Pod", object, ""});
  world.host.objects().put(Json::parse(held.value()));
  world.plugin->reconcile(World::pod(name));
  world.plugin->reconcile(World::pod(name));  // for what it was told
}

TEST(PodsOfStatefulSets, AreAGroupOfItsNumberWhoseWorkloadItOwns) {
  World world;
  put_set(world, "q", 3);
  put_pod_of_set(world, "web-0");
  const Pod facts = world.facts("web-0");
  EXPECT_EQ(facts.group, kGroupOfSet);
  EXPECT_EQ(facts.queue, "q");
  const Json* workload = world.found(World::workload(kGroupOfSet));
  ASSERT_NE(workload, nullptr) << "the first pod queues for all";
  EXPECT_EQ(workload->find("spec.podSets")->items()[0].int_or("count", 0), 3);
  const auto& owners = workload->find("metadata.ownerReferences")->items();
  ASSERT_EQ(owners.size(), 2U) << "it outlives the pods, and they hold it when it is deleted";
  EXPECT_EQ(owners[0].dump(),
            R"({"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"u1"})");
  EXPECT_EQ(owners[1].string_or("name", ""), "web-0");
  EXPECT_EQ(sluice::label_of(*workload, "kueue.x-k8s.io/job-uid"), "u1");
}

TEST(PodsOfStatefulSets, WaitUntilItIsKnown) {
  World world;
  put_pod_of_set(world, "web-0");
  EXPECT_TRUE(world.host.objects().list("Workload").empty());
  EXPECT_TRUE(world.facts("web-0").gated);
  world.restart();
  world.plugin->reconcile(World::pod("web-0"));
  put_set(world, "q", 1);
  world.plugin->reconcile(World::pod("web-0"));
  EXPECT_NE(world.found(World::workload(kGroupOfSet)), nullptr);
}

TEST(PodsOfStatefulSets, GoWithItToAnotherQueueWhileTheyWait) {
  World world;
  put_set(world, "mistyped", 1);
  put_pod_of_set(world, "web-0");
  put_set(world, "q", 1);
  world.plugin->reconcile(World::pod("web-0"));
  EXPECT_EQ(world.facts("web-0").queue, "q");
  EXPECT_EQ(world.found(World::workload(kGroupOfSet))->string_or("spec.queueName", ""), "q");
}

TEST(PodsOfStatefulSets, TakeTheWorkloadWithThemOnlyWhereItHasNoneAnyMore) {
  World world;
  put_set(world, "q", 1);
  put_pod_of_set(world, "web-0");
  world.admit(kGroupOfSet, "main");
  // Evicted: the StatefulSet makes the pod anew.
  world.goes("web-0", kGroupOfSet);
  EXPECT_NE(world.found(World::workload(kGroupOfSet)), nullptr);
  put_set(world, "q", 0);
  EXPECT_EQ(world.found(World::workload(kGroupOfSet)), nullptr);
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
  EXPECT_EQ(world.events_of("p"), std::vector<std::string>{"ErrWorkloadCompose"});
  EXPECT_EQ(world.found(World::workload("mine"))->dump(), before);
}

}  // namespace
}  // namespace pods
