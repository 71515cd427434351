// Statuses of queues, events of decisions, retention: in a live host below the API server.
#include <fmt/format.h>

#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct StatusWorld : OwnLog, HostFixture {
  explicit StatusWorld(Configuration config = {}) : HostFixture(std::move(config), &log, true) {
    for (const char* text : {R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"small"}})",
                             R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
              "metadata":{"name":"lq","namespace":"default"},"spec":{"clusterQueue":"cq"}})"})
      apply(text);
    apply(queue("cq", "3"));
    apply(queue("lender", "2"));
  }
  static std::string queue(const std::string& name, const std::string& cpus,
                           const std::string& more = "") {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":")" +
           name + R"("},"spec":{"namespaceSelector":{},"cohortName":"team",)" + more +
           R"("preemption":{"withinClusterQueue":"LowerPriority"},"resourceGroups":[{
           "coveredResources":["cpu","memory"],"flavors":[{"name":"small","resources":[
           {"name":"cpu","nominalQuota":")" +
           cpus + R"("},{"name":"memory","nominalQuota":"8Gi"}]}]}]}})";
  }
  void apply(const std::string& text) {
    const auto value = boost::json::parse(text).get_object();
    ObjectAccess& access = objects;
    const auto done = access.create(value);
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  static std::string workload_in(const std::string& queue, const std::string& name, int cpus,
                                 int priority = 0) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
           name + R"(","namespace":"default"},"spec":{"queueName":")" + queue + R"(","priority":)" +
           std::to_string(priority) +
           R"(,"podSets":[{"name":"main","count":1,"template":{"spec":{
          "containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"1Gi","cpu":")" +
           std::to_string(cpus) + R"("}}}]}}}]}})";
  }
  void workload(const std::string& name, int cpus, int priority = 0) {
    apply(workload_in("lq", name, cpus, priority));
    kernel.run_to_rest();
  }
  void pass(Duration time) {
    now += time;
    kernel.begin_instant(now);
    kernel.run_to_rest();
  }
  std::string status(std::string_view resource, std::string_view key, std::string_view pointer) {
    return at(kernel.current(kind(resource), key), "/status" + std::string(pointer));
  }
  std::string counts(std::string_view resource, std::string_view key) {
    return status(resource, key, "/pendingWorkloads") + " pending, " +
           status(resource, key, "/reservingWorkloads") + " reserving, " +
           status(resource, key, "/admittedWorkloads") + " admitted";
  }
};

TEST(QueueStatus, CountsAndUsage) {
  StatusWorld world;
  world.workload("a", 2);
  world.workload("b", 2);
  world.workload("c", 9);
  world.pass(kSecond);
  // cq has 3 CPUs and borrows 1 of the lender's 2; c asks for more than there is.
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "1 pending, 2 reserving, 2 admitted");
  EXPECT_EQ(world.status("clusterqueues", "cq", "/flavorsUsage"),
            R"([{"name":"small","resources":[{"name":"cpu","total":"4","borrowed":"1"},)"
            R"({"name":"memory","total":"2Gi","borrowed":"0"}]}])");
  EXPECT_EQ(world.status("clusterqueues", "cq", "/flavorsReservation/0/resources/0/total"), "4");
  EXPECT_EQ(world.counts("localqueues", "default/lq"), "1 pending, 2 reserving, 2 admitted");
  EXPECT_EQ(world.status("localqueues", "default/lq", "/flavorsUsage"),
            R"([{"name":"small","resources":[{"name":"cpu","total":"4"},)"
            R"({"name":"memory","total":"2Gi"}]}])");
  EXPECT_EQ(world.counts("clusterqueues", "lender"), "0 pending, 0 reserving, 0 admitted");
  EXPECT_EQ(world.status("clusterqueues", "cq", "/fairSharing"), "(absent)");
}

// The LocalQueue goes first, and then, by its end, by its deletion, what holds the quota.
TEST(QueueStatus, IsOfTheQueueThatGaveTheQuota) {
  StatusWorld world;
  world.workload("ends", 1);
  world.workload("goes", 1);
  world.pass(kSecond);
  ASSERT_TRUE(world.remove("localqueues", "lq"));
  world.pass(kSecond);
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "0 pending, 2 reserving, 2 admitted");
  ASSERT_TRUE(world.kernel.finish("default/ends", "Succeeded", "so").ok());
  world.pass(kSecond);
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "0 pending, 1 reserving, 1 admitted");
  ASSERT_TRUE(world.remove("workloads", "goes"));
  world.pass(kSecond);
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "0 pending, 0 reserving, 0 admitted");
}

// It asks for more than there is, and so waits wherever it stands; then it names no queue at all.
TEST(QueueStatus, WhoGoesToAnotherQueueIsCountedThereAlone) {
  StatusWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
      "metadata":{"name":"other","namespace":"default"},"spec":{"clusterQueue":"lender"}})");
  world.workload("w", 99);
  for (const auto& [queue, own, others] :
       {std::tuple{"lq", 1, 0}, {"other", 0, 1}, {"lq", 1, 0}, {"nowhere", 0, 0}}) {
    json::object moved = world.kernel.current(world.kind("workloads"), "default/w");
    moved["spec"].as_object()["queueName"] = queue;
    ObjectAccess& access = world.objects;
    ASSERT_TRUE(access.update(std::move(moved)).ok());
    world.kernel.run_to_rest();
    world.pass(kSecond);
    const auto pending = [](int count) {
      return std::to_string(count) + " pending, 0 reserving, 0 admitted";
    };
    EXPECT_EQ(world.counts("clusterqueues", "cq"), pending(own)) << queue;
    EXPECT_EQ(world.counts("localqueues", "default/lq"), pending(own)) << queue;
    EXPECT_EQ(world.counts("clusterqueues", "lender"), pending(others)) << queue;
    EXPECT_EQ(world.counts("localqueues", "default/other"), pending(others)) << queue;
  }
}

TEST(QueueStatus, ActiveSaysWhyNot) {
  struct Case {
    const char* patch;
    const char* queue;
    const char* local;
  };
  const Case cases[] = {
      {R"({"spec":{"stopPolicy":"Hold"}})", "Stopped Can't admit new workloads: is stopped.",
       "ClusterQueueIsInactive Can't submit new workloads to clusterQueue"},
      {R"({"spec":{"stopPolicy":"None"}})", "Ready Can admit new workloads",
       "Ready Can submit new workloads to localQueue"},
  };
  StatusWorld world;
  const auto seen = [&](const char* resource, const char* key) {
    return world.status(resource, key, "/conditions/0/reason") + " " +
           world.status(resource, key, "/conditions/0/message");
  };
  for (const auto& [patch, queue, local] : cases) {
    ASSERT_TRUE(world.merge("clusterqueues", "cq", patch).ok());
    world.kernel.run_to_rest();
    world.pass(kSecond);
    EXPECT_EQ(seen("clusterqueues", "cq"), queue);
    EXPECT_EQ(seen("localqueues", "default/lq"), local);
  }
  ObjectAccess& access = world.objects;
  ASSERT_TRUE(access.remove(world.kind("resourceflavors"), "small").ok());
  const auto let_go = [&] {  // as somebody who knows what he does
    return world.merge("resourceflavors", "small", R"({"metadata":{"finalizers":null}})");
  };
  ASSERT_TRUE(let_go().ok());
  world.kernel.run_to_rest();
  world.pass(kSecond);
  EXPECT_EQ(
      seen("clusterqueues", "cq"),
      "FlavorNotFound Can't admit new workloads: references missing ResourceFlavor(s): small.");
  EXPECT_EQ(world.status("clusterqueues", "cq", "/conditions/0/status"), "False");
  ASSERT_TRUE(access.remove(world.kind("clusterqueues"), "cq").ok());
  world.kernel.run_to_rest();
  world.pass(kSecond);
  EXPECT_EQ(seen("localqueues", "default/lq"),
            "ClusterQueueDoesNotExist Can't submit new workloads to clusterQueue");
  EXPECT_EQ(world.status("localqueues", "default/lq", "/flavorsUsage"), "(absent)");
}

// Nobody loses sight of what runs there, and nobody else starts on it.
TEST(QuotaInUse, WhatIsInUseStaysUntilItsLastUseAlsoWithoutAFinalizer) {
  StatusWorld world;
  world.workload("a", 2);
  ObjectAccess& access = world.objects;
  for (const auto& [resource, name] :
       {std::pair("clusterqueues", "cq"), {"resourceflavors", "small"}}) {
    ASSERT_TRUE(world.remove(resource, name)) << name;
    EXPECT_EQ(at(world.get(resource, name), "/metadata/finalizers/0"),
              "kueue.x-k8s.io/resource-in-use");
  }
  world.workload("b", 1);
  world.pass(kSecond);
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "1 pending, 1 reserving, 1 admitted");
  ASSERT_TRUE(access.remove(world.kind("workloads"), "default/a").ok());
  world.kernel.run_to_rest();
  world.pass(kSecond);
  EXPECT_FALSE(world.exists("clusterqueues", "cq")) << "nothing runs there";
  EXPECT_TRUE(world.exists("resourceflavors", "small")) << "lender names it";
  ASSERT_TRUE(world.remove("clusterqueues", "lender"));
  EXPECT_FALSE(world.exists("clusterqueues", "lender")) << "nobody used it";
  world.kernel.run_to_rest();
  world.pass(kSecond);
  EXPECT_FALSE(world.exists("resourceflavors", "small"));
}

TEST(QuotaInUse, KueuesFinalizerStaysWithTheLastUseAndNoLonger) {
  const char* kHeld = R"({"metadata":{"finalizers":["kueue.x-k8s.io/resource-in-use"]}})";
  StatusWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{
    "name":"gate","finalizers":["kueue.x-k8s.io/resource-in-use"]},
    "spec":{"controllerName":"c"}})");
  for (const auto& [resource, name] :
       {std::pair("clusterqueues", "cq"), {"resourceflavors", "small"}})
    ASSERT_TRUE(world.merge(resource, name, kHeld).ok());
  world.workload("a", 2);
  ObjectAccess& access = world.objects;
  const auto remove = [&](const char* resource, const char* key) {
    EXPECT_TRUE(access.remove(world.kind(resource), key).ok()) << key;
    world.kernel.run_to_rest();
    world.pass(kSecond);
  };
  const auto there = [&](const char* resource, const char* key) {
    return access.exists(world.kind(resource), key);
  };
  remove("admissionchecks", "gate");
  EXPECT_FALSE(there("admissionchecks", "gate")) << "no queue names it";
  remove("clusterqueues", "cq");
  remove("resourceflavors", "small");
  EXPECT_TRUE(there("clusterqueues", "cq")) << "a runs there";
  EXPECT_TRUE(there("resourceflavors", "small")) << "two queues name it";
  EXPECT_EQ(world.status("clusterqueues", "cq", "/conditions/0/reason"), "Terminating");
  EXPECT_EQ(world.status("localqueues", "default/lq", "/conditions/0/reason"),
            "ClusterQueueIsInactive");
  world.workload("b", 1);
  world.pass(kSecond);
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "1 pending, 1 reserving, 1 admitted");
  remove("workloads", "default/a");
  EXPECT_FALSE(there("clusterqueues", "cq"));
  EXPECT_TRUE(there("resourceflavors", "small")) << "lender names it";
  remove("clusterqueues", "lender");
  EXPECT_FALSE(there("resourceflavors", "small"));
}

TEST(QueueStatus, IsWrittenAtMostEveryTenthOfASecond) {
  StatusWorld world;
  world.workload("a", 1);
  world.pass(kSecond);
  const auto version = [&] { return world.store.find(world.kind("clusterqueues"), "cq")->version; };
  world.workload("b", 1);
  const auto before = version();
  for (int i = 0; i < 50; ++i) world.workload("w" + std::to_string(i), 1);
  EXPECT_EQ(version(), before) << "no time has passed";
  EXPECT_EQ(world.kernel.next_timer(), world.now + 100 * kMillisecond);
  world.pass(100 * kMillisecond);
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "47 pending, 5 reserving, 5 admitted");
}

TEST(QueueStatus, IsWrittenMoreRarelyWhenManyQueuesChange) {
  StatusWorld world;
  constexpr int kQueues = 150;
  for (int i = 0; i < kQueues; ++i) {
    const std::string name = "q" + std::to_string(i);
    world.apply(StatusWorld::queue(name, "100"));
    world.apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":")" +
        name + R"(","namespace":"default"},"spec":{"clusterQueue":")" + name + R"("}})");
  }
  world.pass(kSecond);
  int writes = 0;
  std::uint64_t seen = 0;
  for (int round = 0; round < 24; ++round) {  // each queue changes every 50 ms, 1.2 s long
    for (int i = 0; i < kQueues; ++i)
      world.apply(StatusWorld::workload_in("q" + std::to_string(i),
                                           "w" + std::to_string(round * kQueues + i), 1));
    world.pass(50 * kMillisecond);
    const auto version = world.store.find(world.kind("clusterqueues"), "q0")->version;
    if (version != seen) ++writes;
    seen = version;
  }
  // 150 queues × 2 ms: one write in 300 ms, and the first at once; alone it would be 12.
  EXPECT_LE(writes, 1 + 1200 / 300);
  EXPECT_GE(writes, 3);
  world.pass(kSecond);
  const auto shown = [&](const char* pointer) {
    return std::stoi(world.status("clusterqueues", "q0", pointer));
  };
  EXPECT_EQ(shown("/pendingWorkloads") + shown("/reservingWorkloads"), 24) << "the last is shown";
}

TEST(QueueStatus, ComesToRestAndWakesNobody) {
  StatusWorld world;
  world.workload("a", 1);
  world.workload("big", 9);
  world.pass(kSecond);
  const auto cycles = world.kernel.engine().stats().cycles;
  const auto reconciles = world.controllers.reconciles();
  for (int i = 0; i < 10; ++i) world.pass(kSecond);
  EXPECT_EQ(world.kernel.engine().stats().cycles, cycles) << "a status is no news for the engine";
  EXPECT_LE(world.controllers.reconciles(), reconciles + 4);
  EXPECT_GE(world.kernel.next_timer(), world.now + 60 * kSecond);
}

TEST(QueueStatus, ShowsSharesWithFairSharing) {
  Configuration config;
  config.engine.fair_sharing = true;
  StatusWorld world(config);
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort",
                  "metadata":{"name":"team"},"spec":{}})");
  world.workload("a", 4);
  world.pass(kSecond);
  // It borrows 1 CPU of the 5 that the cohort could lend: 1 × 1000 ÷ 5.
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "0 pending, 1 reserving, 1 admitted");
  EXPECT_EQ(world.status("clusterqueues", "cq", "/fairSharing/weightedShare"), "200");
  EXPECT_EQ(world.status("cohorts", "team", "/fairSharing/weightedShare"), "0");
}

// What an earlier configuration left goes.
TEST(QueueStatus, ShowsNoShareWithoutFairSharing) {
  StatusWorld world;
  ObjectAccess& access = world.objects;
  ASSERT_TRUE(access
                  .update_status(world.kind("clusterqueues"), "cq",
                                 boost::json::object{{"fairSharing", {{"weightedShare", 17}}}})
                  .ok());
  ASSERT_EQ(world.status("clusterqueues", "cq", "/fairSharing/weightedShare"), "17");
  world.workload("a", 2);
  world.pass(kSecond);
  EXPECT_EQ(world.counts("clusterqueues", "cq"), "0 pending, 1 reserving, 1 admitted");
  EXPECT_EQ(world.status("clusterqueues", "cq", "/fairSharing"), "(absent)");
}

TEST(DecisionEvents, HaveTheReasonsOfKueue) {
  StatusWorld world;
  world.workload("low", 3);
  world.pass(10 * kSecond);
  world.workload("high", 3, 7);
  world.workload("big", 9);
  const auto& lines = world.log.lines;
  EXPECT_THAT(lines,
              Contains("Workload QuotaReserved: Quota reserved in ClusterQueue cq, wait time "
                       "since queued was 0s"));
  EXPECT_THAT(lines, Contains("Workload Admitted: Admitted by ClusterQueue cq, wait time since "
                              "reservation was 0s"));
  EXPECT_THAT(lines, Contains(StartsWith("Workload Preempted: Preempted to accommodate")));
  EXPECT_THAT(lines, Contains(StartsWith("Workload EvictedDueToPreempted: ")));
  EXPECT_THAT(lines, Contains("Workload PreemptedWorkload: Preempted workload default/low: "
                              "InClusterQueue"));
  EXPECT_THAT(lines, Contains(HasSubstr("insufficient quota for cpu in flavor small")));
}

// Created at 0, preempted at 10 s, there is room again at 25 s.
TEST(DecisionEvents, WhoWasPreemptedWaitsSinceThen) {
  StatusWorld world;
  world.workload("low", 3);
  world.pass(10 * kSecond);
  world.workload("high", 3, 7);
  world.pass(15 * kSecond);
  ASSERT_TRUE(world.kernel.finish("default/high", "Succeeded", "").ok());
  world.kernel.run_to_rest();
  EXPECT_THAT(world.log.lines,
              Contains("Workload QuotaReserved: Quota reserved in ClusterQueue cq, wait time "
                       "since queued was 15s"));
}

TEST(Retention, FinishedWorkloadsGo) {
  Configuration config;
  config.retention.after_finished = 60 * kSecond;
  StatusWorld world(config);
  world.workload("a", 1);
  ASSERT_TRUE(world.kernel.finish("default/a", "Succeeded", "").ok());
  world.kernel.run_to_rest();
  world.pass(59 * kSecond);
  EXPECT_TRUE(world.kernel.exists(world.kind("workloads"), "default/a"));
  world.pass(kSecond);
  EXPECT_FALSE(world.kernel.exists(world.kind("workloads"), "default/a"));
}

TEST(Retention, DeactivatedOnesGoWithTheirJob) {
  Configuration config;
  config.retention.after_deactivated = 60 * kSecond;
  StatusWorld world(config);
  world.apply(
      JobWorld::job("train", 1,
                    JobWorld::queued() + R"(,"kueue.x-k8s.io/max-exec-time-seconds":"5")", "")
          .insert(std::string(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{)").size(),
                  R"("namespace":"default",)"));
  world.workload("by-hand", 1);
  world.kernel.run_to_rest();
  ASSERT_TRUE(world.merge("workloads", "by-hand", R"({"spec":{"active":false}})").ok());
  world.pass(5 * kSecond);
  world.pass(60 * kSecond);
  EXPECT_FALSE(world.kernel.exists(world.kind("jobs"), "default/train"));
  ObjectAccess& access = world.objects;
  EXPECT_THAT(access.keys(world.kind("workloads")), ElementsAre("default/by-hand"))
      << "a person's decision is theirs";
}

/// Last seen so many seconds after the world began.
std::string event_at(const std::string& name, int second) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Event","metadata":{{"name":"{}","namespace":"default"}},
      "involvedObject":{{"kind":"Job","name":"j","namespace":"default"}},"reason":"R","message":"m",
      "type":"Normal","lastTimestamp":"2026-01-01T00:00:{:02}Z"}})",
      name, second);
}

TEST(Retention, EventsGoAnHourAfterTheyWereLastSeen) {
  StatusWorld world;
  world.apply(event_at("e", 0));
  world.kernel.run_to_rest();
  world.pass(1800 * kSecond);
  ObjectAccess& access = world.objects;
  EXPECT_THAT(access.keys(world.kind("events")), ElementsAre("default/e"));
  world.pass(1800 * kSecond);
  EXPECT_THAT(access.keys(world.kind("events")), IsEmpty());
}

// Three may stay. Of four the one that was seen first goes: b, because a was seen again since.
TEST(Retention, OfMoreEventsThanThereMayBeThoseSeenLongestAgoGo) {
  Configuration config;
  config.store.limits.events = 3;
  StatusWorld world(config);
  ObjectAccess& access = world.objects;
  const auto names = [&] { return access.keys(world.kind("events")); };
  for (const auto& [name, second] : {std::pair("a", 0), {"b", 1}, {"c", 2}})
    world.apply(event_at(name, second));
  world.kernel.run_to_rest();
  EXPECT_THAT(names(), ElementsAre("default/a", "default/b", "default/c"));
  ASSERT_TRUE(
      world.merge("events", "a", R"({"lastTimestamp":"2026-01-01T00:00:09Z","count":2})").ok());
  world.apply(event_at("d", 3));
  world.kernel.run_to_rest();
  EXPECT_THAT(names(), ElementsAre("default/a", "default/c", "default/d"));
  world.apply(event_at("e", 4));
  world.kernel.run_to_rest();
  EXPECT_THAT(names(), ElementsAre("default/a", "default/d", "default/e"));
}

}  // namespace
}  // namespace sluice::host::test
