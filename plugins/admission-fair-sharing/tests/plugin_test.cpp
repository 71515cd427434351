// The plugin against a host that is not there: what it answers, what it writes, what a restart
// leaves of it.
#include <gtest/gtest.h>
#include <sluice/testing.hpp>

#include "../usage.hpp"

namespace afs {
namespace {

using sluice::Json;
using sluice::ObjectRef;
using namespace sluice::testing;

// A half-life of a minute, so that an entry counts for half of what it asks for.
constexpr const char* kConfig = R"({"usageHalfLifeTime":"60s","usageSamplingInterval":"60s"})";

constexpr const char* kStart = "2026-01-01T00:00:00Z";  // of the host's clock

Json object(const std::string& text) { return Json::parse(text); }

struct World {
  FakeHost host;

  World() {
    host.objects().put(object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
      "metadata":{"name":"cq"},
      "spec":{"admissionScope":{"admissionMode":"UsageBasedAdmissionFairSharing"},
      "resourceGroups":[{"coveredResources":["cpu"]}]}})"));
    for (const char* name : {"a", "b"})
      host.objects().put(object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
        "metadata":{"name":")" + std::string(name) +
                                R"(","namespace":"ns"},
        "spec":{"clusterQueue":"cq"}})"));
  }
  static ObjectRef ref(const char* kind, const char* ns, const std::string& name) {
    return {"kueue.x-k8s.io/v1beta2", kind, ns, name};
  }
  /// Of the LocalQueue; it holds `cpu` since that moment, or waits where that is empty.
  void put(const std::string& name, const std::string& queue, const std::string& cpu,
           const std::string& since = kStart) {
    put_workload(name, "", R"("queueName":")" + queue + '"',
                 cpu.empty() ? "" : reserved(since, R"("resourceUsage":{"cpu":")" + cpu + R"("})"));
  }
  /// One that holds so much of the LocalQueue a since that moment.
  void put_holder(const std::string& name, const std::string& metadata, int cpu,
                  const std::string& since = kStart, int given_back = 0) {
    const std::string count = std::to_string(cpu);
    put_workload(
        name, metadata, R"("queueName":"a","podSets":[{"name":"main","count":)" + count + "}]",
        R"("reclaimablePods":[{"name":"main","count":)" + std::to_string(given_back) + "}]," +
            reserved(since,
                     R"("count":)" + count + R"(,"resourceUsage":{"cpu":")" + count + "\"}"));
  }
  /// A begins to hold 8.
  void a_takes_8(TestedPlugin& plugin) {
    plugin.reconcile(ref("LocalQueue", "ns", "a"));
    put("w", "a", "8");
    plugin.reconcile(ref("Workload", "ns", "w"));
  }
  /// The same, and the plugin is gone then.
  void first_life() {
    TestedPlugin plugin(host, kConfig);
    a_takes_8(plugin);
  }
  void drop(const std::string& name) { host.objects().remove("Workload", "ns", name); }
  std::string consumed(const std::string& queue) {
    const Json* found = host.objects().find("LocalQueue", "ns", queue);
    return found != nullptr
               ? found->string_or(
                     "status.fairSharing.admissionFairSharingStatus.consumedResources.cpu", "")
               : "";
  }

 private:
  static std::string reserved(const std::string& since, const std::string& assignment) {
    return R"("conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":")" +
           since + R"("}],"admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main",)" +
           assignment + "}]}";
  }
  void put_workload(const std::string& name, const std::string& metadata, const std::string& spec,
                    const std::string& status) {
    host.objects().put(
        object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
               name + R"(","namespace":"ns","uid":"u-)" + name + '"' + metadata + R"(},"spec":{)" +
               spec + R"(},"status":{)" + status + "}}"));
  }
};

TEST(Plugin, SaysNothingOfWhatItDoesNotKnow) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  EXPECT_EQ(plugin.order_local_queue("ns/a", "cq").key, 0);
  EXPECT_EQ(plugin.order_local_queue("ns/a", "cq").because, "");
}

TEST(Plugin, AnEntryCountsAtOnceAndPutsItsLocalQueueBehind) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  world.a_takes_8(plugin);
  EXPECT_EQ(world.consumed("a"), "4");  // 8 · (1 − ½)
  const OrderGiven a = plugin.order_local_queue("ns/a", "cq");
  const OrderGiven b = plugin.order_local_queue("ns/b", "cq");
  EXPECT_EQ(a.key, key_of(4));
  EXPECT_EQ(a.because, "LocalQueue ns/a has used 4 cpu on average");
  EXPECT_EQ(b.key, 0);
  EXPECT_EQ(b.because, "LocalQueue ns/b has used nothing lately");
  EXPECT_GT(a.key, b.key);
  plugin.reconcile(World::ref("Workload", "ns", "w"));
  EXPECT_EQ(world.consumed("a"), "4") << "seen again, counted once";
}

TEST(Plugin, WhoHasUsedNothingSaysSo) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  plugin.reconcile(World::ref("LocalQueue", "ns", "a"));
  EXPECT_EQ(world.consumed("a"), "0");
  EXPECT_EQ(world.consumed("b"), "0");
  world.host.objects().put(object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
    "metadata":{"name":"c","namespace":"ns"},"spec":{"clusterQueue":"cq"}})"));
  plugin.reconcile(World::ref("LocalQueue", "ns", "c"));
  EXPECT_EQ(world.consumed("c"), "0") << "a new one, too";
}

TEST(Plugin, AClusterQueueThatBeginsToAskForItIsToldWhatWasUsed) {
  World world;
  const char* kPlain = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
    "metadata":{"name":"cq"},"spec":{"resourceGroups":[{"coveredResources":["cpu"]}]}})";
  Json asks = *world.host.objects().find("ClusterQueue", "", "cq");
  world.host.objects().put(object(kPlain));
  TestedPlugin plugin(world.host, kConfig);
  world.a_takes_8(plugin);
  EXPECT_EQ(world.consumed("a"), "");
  plugin.advance(std::chrono::seconds(60));
  world.host.objects().put(std::move(asks));
  plugin.reconcile(World::ref("ClusterQueue", "", "cq"));
  EXPECT_EQ(world.consumed("a"), "4");  // 8 · (1 − ½): held for a half-life
  EXPECT_EQ(world.consumed("b"), "0");
}

TEST(Plugin, WhatIsHeldCountsInTimeAndIsForgotten) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  world.a_takes_8(plugin);
  plugin.advance(std::chrono::seconds(60));
  world.put("w", "a", "");  // evicted
  plugin.reconcile(World::ref("Workload", "ns", "w"));
  EXPECT_EQ(world.consumed("a"), "6");       // 8 + (4 − 8) · ½
  plugin.advance(std::chrono::seconds(60));  // it waits, so a sample is taken
  EXPECT_EQ(world.consumed("a"), "3");       // 6 · ½
}

TEST(Plugin, ARestartGoesOnWhereItWas) {
  World world;
  world.first_life();
  TestedPlugin again(world.host, kConfig);
  again.reconcile(World::ref("LocalQueue", "ns", "b"));
  EXPECT_EQ(again.order_local_queue("ns/a", "cq").key, key_of(4)) << "w is not counted twice";
  again.advance(std::chrono::seconds(60));
  world.put("w", "a", "");
  again.reconcile(World::ref("Workload", "ns", "w"));
  EXPECT_EQ(world.consumed("a"), "6") << "and goes on to count";
}

TEST(Plugin, WhatIsHeldAcrossARestartCountsForAllOfTheTime) {
  for (const bool somebody_waits : {false, true}) {
    World world;
    world.first_life();
    if (somebody_waits) world.put("a-first", "a", "");  // read before w
    world.host.set_now(world.host.now() + 60'000'000'000);
    TestedPlugin again(world.host, kConfig);
    again.reconcile(World::ref("LocalQueue", "ns", "b"));
    world.put("waits", "a", "");
    again.reconcile(World::ref("Workload", "ns", "waits"));
    // 8 + (4 − 8) · ½: as of its lastUpdate, 60 s ago, a had 4 and held 8
    EXPECT_EQ(again.order_local_queue("ns/a", "cq").key, key_of(6)) << somebody_waits;
    world.put("w", "a", "");
    again.reconcile(World::ref("Workload", "ns", "w"));
    EXPECT_EQ(world.consumed("a"), "6") << somebody_waits;
  }
}

TEST(Plugin, WhatWasReservedWhileThePluginWasNotThereCountsFromThenOn) {
  World world;
  world.first_life();
  world.put("late", "a", "2", "2026-01-01T00:01:00Z");
  world.host.set_now(world.host.now() + 120'000'000'000);
  TestedPlugin again(world.host, kConfig);
  again.reconcile(World::ref("LocalQueue", "ns", "b"));
  world.put("w", "a", "");
  again.reconcile(World::ref("Workload", "ns", "w"));
  EXPECT_EQ(world.consumed("a"), "8");  // 8 + (4 − 8) · ½ = 6, then 10 + (6 − 10) · ½
}

TEST(Plugin, AResourceThatIsCoveredSinceTheRestartIsToldWithWhatWasHeld) {
  World world;
  world.first_life();
  world.host.objects().put(object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
    "metadata":{"name":"cq"},
    "spec":{"admissionScope":{"admissionMode":"UsageBasedAdmissionFairSharing"},
    "resourceGroups":[{"coveredResources":["cpu","memory"]}]}})"));
  world.host.set_now(world.host.now() + 60'000'000'000);
  TestedPlugin again(world.host, kConfig);
  again.reconcile(World::ref("LocalQueue", "ns", "b"));
  EXPECT_EQ(world.consumed("a"), "6");  // 8 + (4 − 8) · ½
}

// What a host notes on workloads, and those whom it calls their owners.
constexpr const char* kAside = R"(,"annotations":{"sluice.dev/claimed-by":"p",
  "sluice.dev/takes-no-part":"true"})";
constexpr const char* kOption = R"(,"annotations":{"sluice.dev/claimed-by":"p"},
  "ownerReferences":[{"kind":"Workload","name":"parent","uid":"u-parent","controller":true}])";
constexpr const char* kFirst = R"(,"annotations":{"sluice.dev/claimed-by":"p"},
  "ownerReferences":[{"kind":"Job","name":"j","uid":"u-j","controller":true}])";
constexpr const char* kSlice = R"(,"annotations":{"sluice.dev/claimed-by":"p",
  "kueue.x-k8s.io/workload-slice-name":"first"},
  "ownerReferences":[{"kind":"Job","name":"j","uid":"u-j","controller":true}])";
constexpr const char* kForged = R"(,"annotations":{"kueue.x-k8s.io/workload-slice-name":"first",
  "sluice.dev/takes-no-part":"true"},
  "ownerReferences":[{"kind":"Job","name":"j","uid":"u-j","controller":true}])";

TEST(Plugin, OneThatTakesNoPartHoldsNothingItself) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  plugin.reconcile(World::ref("LocalQueue", "ns", "a"));
  world.put_holder("option", kOption, 8);
  world.put_holder("parent", kAside, 8);  // shows what its option holds
  for (const char* name : {"option", "parent"})
    plugin.reconcile(World::ref("Workload", "ns", name));
  EXPECT_EQ(world.consumed("a"), "4");  // 8 · (1 − ½)
  plugin.advance(std::chrono::seconds(60));
  // Its ClusterQueue has no options any more: it holds it itself.
  world.put_holder("parent", "", 8);
  world.drop("option");
  for (const char* name : {"option", "parent"})
    plugin.reconcile(World::ref("Workload", "ns", name));
  EXPECT_EQ(world.consumed("a"), "6");  // 8 + (4 − 8) · ½
}

TEST(Plugin, PodsThatAreGivenBackAreNotHeld) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  plugin.reconcile(World::ref("LocalQueue", "ns", "a"));
  world.put_holder("w", "", 8);
  plugin.reconcile(World::ref("Workload", "ns", "w"));
  world.put_holder("w", "", 8, "2026-01-01T00:00:00Z", 6);
  plugin.reconcile(World::ref("Workload", "ns", "w"));
  EXPECT_EQ(world.consumed("a"), "4") << "no further entry";
  plugin.advance(std::chrono::seconds(60));
  world.drop("w");
  plugin.reconcile(World::ref("Workload", "ns", "w"));
  EXPECT_EQ(world.consumed("a"), "3");  // 2 + (4 − 2) · ½
}

TEST(Plugin, WhoTakesAnothersPlaceEntersWithWhatIsMore) {
  struct Row {
    const char *of_first, *of_next;
    int next;
    const char* consumed;
  };
  for (const bool leaves_first : {false, true}) {
    for (const Row& row : {
             Row{kFirst, kSlice, 8, "7"},    // 6 + (6 − 6) · ½, and (8 − 6) · (1 − ½)
             Row{kFirst, kForged, 8, "10"},  // no plugin answers for it: 6 + 8 · (1 − ½)
             Row{kOption, kOption, 6, "6"},  // a better option of the same workload
             Row{"", "", 6, "9"},            // another workload: 6 + 6 · (1 − ½)
         }) {
      World world;
      TestedPlugin plugin(world.host, R"({"usageHalfLifeTime":"1s","usageSamplingInterval":"1s"})");
      plugin.reconcile(World::ref("LocalQueue", "ns", "a"));
      world.put_holder("first", row.of_first, 6);
      plugin.reconcile(World::ref("Workload", "ns", "first"));
      plugin.advance(std::chrono::seconds(60));  // 6 of 6
      world.drop("first");
      world.put_holder("next", row.of_next, row.next, "2026-01-01T00:01:00Z");
      for (const char* name : {leaves_first ? "first" : "next", leaves_first ? "next" : "first"})
        plugin.reconcile(World::ref("Workload", "ns", name));
      EXPECT_EQ(world.consumed("a"), row.consumed) << row.of_next << leaves_first;
    }
  }
}

TEST(Plugin, WhoTakesThePlaceOfOneThatWasGoneEntersWithAllOfIt) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  plugin.reconcile(World::ref("LocalQueue", "ns", "a"));
  world.put_holder("first", kOption, 8);
  plugin.reconcile(World::ref("Workload", "ns", "first"));
  world.drop("first");
  plugin.reconcile(World::ref("Workload", "ns", "first"));
  plugin.advance(std::chrono::seconds(60));
  world.put_holder("next", kOption, 8, "2026-01-01T00:01:00Z");
  plugin.reconcile(World::ref("Workload", "ns", "next"));
  EXPECT_EQ(world.consumed("a"), "6");  // 4 · ½ + 8 · (1 − ½)
}

TEST(Plugin, AClusterQueueThatDoesNotAskForItHasNoKeys) {
  World world;
  world.host.objects().put(object(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
    "metadata":{"name":"cq"},
    "spec":{"admissionScope":{"admissionMode":"NoAdmissionFairSharing"}}})"));
  TestedPlugin plugin(world.host, kConfig);
  world.a_takes_8(plugin);
  EXPECT_EQ(world.consumed("a"), "");
  EXPECT_EQ(plugin.order_local_queue("ns/a", "cq").because, "");
}

// The namespace of one tenant is full: the others' queues are told of, and sampling goes on.
TEST(Plugin, AStatusThatIsRefusedKeepsNobodyElseWaiting) {
  World world;
  world.host.objects().refuse("LocalQueue", "ns", "a");
  TestedPlugin plugin(world.host, kConfig);
  plugin.reconcile(World::ref("LocalQueue", "ns", "a"));
  EXPECT_EQ(world.consumed("b"), "0") << "what is read at the start is taken in all the same";
  for (const char* queue : {"a", "b"}) {
    world.put(std::string("w-") + queue, queue, "8");
    plugin.reconcile(World::ref("Workload", "ns", std::string("w-") + queue));
  }
  EXPECT_EQ(world.consumed("a"), "");
  EXPECT_EQ(world.consumed("b"), "4");  // 8 · (1 − ½)
  EXPECT_EQ(plugin.order_local_queue("ns/a", "cq").key, key_of(4)) << "it counts all the same";
  plugin.advance(std::chrono::seconds(60));
  EXPECT_EQ(world.consumed("b"), "6");  // 8 + (4 − 8) · ½
  EXPECT_EQ(world.host.timers().size(), 1U);

  world.host.objects().refuse("LocalQueue", "ns", "a", false);
  plugin.advance(std::chrono::seconds(60));
  EXPECT_EQ(world.consumed("a"), "7");  // 8 + (6 − 8) · ½
  EXPECT_EQ(world.consumed("b"), "7");
  plugin.advance(std::chrono::seconds(60));
  EXPECT_TRUE(world.host.timers().empty()) << "nobody waits, and all is told";
}

TEST(Plugin, SamplingEndsWhenNothingIsLeftToForget) {
  World world;
  TestedPlugin plugin(world.host, kConfig);
  plugin.reconcile(World::ref("LocalQueue", "ns", "a"));
  world.put("waits", "a", "");
  plugin.reconcile(World::ref("Workload", "ns", "waits"));
  EXPECT_EQ(world.host.timers().size(), 1U);
  plugin.advance(std::chrono::seconds(60 * 12));  // 10 half-lives after the last event, and a bit
  EXPECT_TRUE(world.host.timers().empty());
}

}  // namespace
}  // namespace afs
