// Pods of StatefulSets, which are told by it in which queue they wait and how many they are.
#include "../sets.hpp"

#include "../parents.hpp"
#include "../shape.hpp"
#include "world.hpp"

namespace pods {
namespace {

const std::string kGroupOfSet = group_of_set("web", "u1");

ObjectRef set_ref() { return {kSetVersion, kSetKind, "ns", "web"}; }

void put_set(World& world, const std::string& queue, int replicas) {
  world.host.objects().put(Json::parse(
      R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web","namespace":"ns",)"
      R"("uid":"u1","labels":{"kueue.x-k8s.io/queue-name":")" +
      queue + R"("}},"spec":{"replicas":)" + std::to_string(replicas) + "}}"));
  world.plugin->reconcile(set_ref());
}

void put_pod_of_set(World& world, const std::string& name, const std::string& cpu = "1") {
  const std::string object =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
      R"(","namespace":"ns","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet",)"
      R"("name":"web","uid":"u1","controller":true}],"annotations":{)"
      R"("kueue.x-k8s.io/pod-suspending-parent":"statefulset"}},"spec":{"containers":[{"name":"c",)"
      R"("resources":{"requests":{"cpu":")" +
      cpu + R"("}}}]}})";
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

TEST(PodsOfStatefulSets, ThatAskForSomethingElseGetAWorkloadOfTheirOwn) {
  World world;
  put_set(world, "q", 2);
  put_pod_of_set(world, "web-0");
  world.admit(kGroupOfSet, "main");
  world.bind("web-0");
  put_pod_of_set(world, "web-1", "2");
  EXPECT_TRUE(world.facts("web-1").gated) << "it waits as long as one runs for what was counted";
  world.goes("web-0", kGroupOfSet);
  put_pod_of_set(world, "web-0", "2");
  const Json* workload = world.found(World::workload(kGroupOfSet));
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(workload->find("status"), nullptr) << "it is another one";
  EXPECT_EQ(workload->find("spec.podSets")->items()[0].find("template.spec.containers")->dump(),
            R"([{"name":"c","resources":{"requests":{"cpu":"2"}}}])");
}

// As in the midst of an update, one after the other: the workload is that of one of them.
TEST(PodsOfStatefulSets, OfWhichOneAsksAsCountedKeepTheWorkload) {
  World world;
  put_set(world, "q", 2);
  put_pod_of_set(world, "web-0");
  Json marked = *world.found(World::workload(kGroupOfSet));
  marked["metadata"]["labels"]["seen"] = "yes";
  world.host.objects().put(marked);
  put_pod_of_set(world, "web-1", "2");
  world.plugin->reconcile(World::pod("web-0"));
  const Json* workload = world.found(World::workload(kGroupOfSet));
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(sluice::label_of(*workload, "seen"), "yes");
}

// Each of them is an owner, and an object has so many at most.
TEST(PodsOfStatefulSets, ThatAreGoneAreNoOwnersOfIt) {
  World world;
  put_set(world, "q", 1);
  for (int i = 0; i < 3; ++i) {
    put_pod_of_set(world, "web-0");
    Json named = *world.found(World::pod("web-0"));
    named["metadata"]["uid"] = "uid-" + std::to_string(i);
    world.host.objects().put(named);
    world.plugin->reconcile(World::pod("web-0"));
    const Json* workload = world.found(World::workload(kGroupOfSet));
    ASSERT_NE(workload, nullptr);
    EXPECT_EQ(workload->find("metadata.ownerReferences")->items().size(), 2U)
        << "the set and the pod that is there";
    world.goes("web-0", kGroupOfSet);
  }
}

/// The first pod of a replica, as the StatefulSet of the LeaderWorkerSet makes it.
void put_leader(World& world) {
  const auto held = world.plugin->set_defaults(
      {sluice::Operation::kCreate, "v1", "Pod",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"s-0","namespace":"ns","labels":{
       "kueue.x-k8s.io/queue-name":"q","leaderworkerset.sigs.k8s.io/name":"s",
       "leaderworkerset.sigs.k8s.io/group-index":"0"},"annotations":{
       "kueue.x-k8s.io/pod-group-part-of":"LeaderWorkerSet",
       "kueue.x-k8s.io/pod-group-named-set":"main","kueue.x-k8s.io/pod-group-total-count":"1",
       "kueue.x-k8s.io/pod-group-fast-admission":"true",
       "kueue.x-k8s.io/pod-group-serving":"true"},"ownerReferences":[{"apiVersion":"apps/v1",
       "kind":"StatefulSet","name":"s","uid":"us","controller":true}]},"spec":{"containers":[
       {"name":"c","resources":{"requests":{"cpu":"1"}}}]}})",
       ""});
  world.host.objects().put(Json::parse(held.value()));
  world.plugin->reconcile(World::pod("s-0"));
}

TEST(ReplicasOfLeaderWorkerSets, KeepTheirQuotaWhileTheirPodsAreMadeAnew) {
  World world;
  put_leader(world);
  const Json made = world.host.objects().list("Workload").front();
  const std::string name = made.string_or("metadata.name", "");
  EXPECT_EQ(made.find("metadata.ownerReferences")->items().front().string_or("name", ""), "s");
  world.admit(name, "main");
  world.bind("s-0");
  world.goes("s-0", name);
  EXPECT_NE(world.found(World::workload(name)), nullptr);
  world.plugin->advance(std::chrono::seconds(9));
  put_leader(world);
  world.plugin->advance(std::chrono::seconds(60));
  ASSERT_NE(world.found(World::workload(name)), nullptr);
  EXPECT_EQ(world.found(World::workload(name))->string_or("metadata.uid", ""),
            made.string_or("metadata.uid", ""));
  EXPECT_FALSE(world.facts("s-0").gated) << "it starts on the quota that is held";
}

// There is one replica fewer: nobody says so but the pods that do not come.
TEST(ReplicasOfLeaderWorkerSets, GiveTheirQuotaBackWhenNoPodsCome) {
  World world;
  put_leader(world);
  const std::string name =
      world.host.objects().list("Workload").front().string_or("metadata.name", "");
  world.admit(name, "main");
  world.goes("s-0", name);
  world.restart();  // nobody knows any more since when
  world.plugin->reconcile(World::workload(name));
  world.plugin->advance(std::chrono::seconds(9));
  EXPECT_NE(world.found(World::workload(name)), nullptr);
  world.plugin->advance(std::chrono::seconds(1));
  EXPECT_EQ(world.found(World::workload(name)), nullptr);
}

// A timer is over when it was called, whatever became of it.
TEST(ReplicasOfLeaderWorkerSets, GiveTheirQuotaBackAlsoWhereThatIsRefusedOnce) {
  World world;
  put_leader(world);
  const std::string name =
      world.host.objects().list("Workload").front().string_or("metadata.name", "");
  world.admit(name, "main");
  world.goes("s-0", name);
  world.host.objects().refuse("Workload", "ns", name);
  world.plugin->advance(std::chrono::seconds(10));
  EXPECT_NE(world.found(World::workload(name)), nullptr);
  world.host.objects().refuse("Workload", "ns", name, false);
  world.plugin->advance(std::chrono::seconds(10));
  EXPECT_EQ(world.found(World::workload(name)), nullptr);
}

}  // namespace
}  // namespace pods
