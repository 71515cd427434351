// Priorities of workloads that name a WorkloadPriorityClass, when that one changes.
#include <gtest/gtest.h>

#include "host/controllers/class_priority.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

struct ClassWorld : HostFixture {
  ClassWorld() : HostFixture(Configuration(), nullptr, true) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
      "metadata":{"name":"f"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
      "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
      "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
      "metadata":{"name":"lq","namespace":"default"},"spec":{"clusterQueue":"cq"}})");
    set_class("low", 10);
    set_class("high", 100);
    kernel.run_to_rest();
  }
  void set_class(const std::string& name, int value) {
    if (exists("workloadpriorityclasses", name)) {
      EXPECT_TRUE(
          merge("workloadpriorityclasses", name, R"({"value":)" + std::to_string(value) + "}"));
    } else {
      apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
        "metadata":{"name":")" +
            name + R"("},"value":)" + std::to_string(value) + "}");
    }
  }
  /// Asks for the queue's one CPU. `priority`: of its own, or what names a class.
  void workload(const std::string& name, const std::string& priority) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
          name + R"(","namespace":"default"},"spec":{"queueName":"lq",)" + priority +
          R"(,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[
          {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
    kernel.run_to_rest();
  }
  static std::string of_class(const std::string& name) {
    return R"("priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass",)"
           R"("name":")" +
           name + R"("})";
  }
  void pass(Duration time) {
    now += time;
    kernel.begin_instant(now);
    kernel.run_to_rest();
  }
  std::string priority(const std::string& name) {
    return at(get("workloads", "default/" + name), "/spec/priority");
  }
  std::string reserved(const std::string& name) {
    return at(get("workloads", "default/" + name), "/status/conditions/0/status");
  }
};

TEST(ClassPriority, IsThatOfTheClassForWhoRunsAndWhoWaits) {
  ClassWorld world;
  world.workload("done", ClassWorld::of_class("low"));
  ASSERT_TRUE(world.kernel.finish("default/done", "Succeeded", ""));
  world.workload("runs", ClassWorld::of_class("low"));
  world.workload("other", ClassWorld::of_class("high"));
  world.workload("own", R"("priority":50)");
  world.workload("waits", ClassWorld::of_class("low"));
  world.set_class("low", 200);
  world.kernel.run_to_rest();
  EXPECT_EQ(world.priority("runs"), "200");
  EXPECT_EQ(world.priority("waits"), "200");
  EXPECT_EQ(world.priority("other"), "100");
  EXPECT_EQ(world.priority("own"), "50");
  EXPECT_EQ(world.priority("done"), "10") << "it has finished";
  // 200 is more than 100: who waited behind is first now.
  ASSERT_TRUE(world.kernel.finish("default/runs", "Succeeded", ""));
  world.kernel.run_to_rest();
  EXPECT_EQ(world.reserved("waits"), "True");
  EXPECT_EQ(world.reserved("other"), "False");
}

TEST(ClassPriority, OfAClassThatIsMadeAgainIsTheNewOne) {
  ClassWorld world;
  world.workload("w", ClassWorld::of_class("low"));
  ASSERT_TRUE(world.remove("workloadpriorityclasses", "low"));
  world.kernel.run_to_rest();
  EXPECT_EQ(world.priority("w"), "10");
  world.set_class("low", 20);
  world.kernel.run_to_rest();
  EXPECT_EQ(world.priority("w"), "20");
}

TEST(ClassPriority, OfManyIsWrittenInTurns) {
  ClassWorld world;
  const std::size_t many = 3 * ClassPriorityController::kMostAtOnce + 1;
  for (std::size_t i = 0; i < many; ++i)
    world.workload("w" + std::to_string(i), ClassWorld::of_class("low"));
  const auto behind = [&] {
    std::size_t out = 0;
    for (std::size_t i = 0; i < many; ++i) out += world.priority("w" + std::to_string(i)) != "11";
    return out;
  };
  world.set_class("low", 11);
  world.kernel.run_to_rest();
  EXPECT_EQ(behind(), many - ClassPriorityController::kMostAtOnce);
  world.set_class("high", 101);  // another one in the midst of it
  for (int turn = 0; turn < 3; ++turn) world.pass(0);
  EXPECT_EQ(behind(), 0U);
}

TEST(ClassPriority, IsWrittenAgainWhereTheWriteCameToNothing) {
  ClassWorld world;
  world.workload("w", ClassWorld::of_class("low"));
  world.set_class("low", 20);
  world.kernel.run_to_rest();
  // As where the API server of a cluster refused it, and the object was read again.
  ASSERT_TRUE(world.merge("workloads", "w", R"({"spec":{"priority":10}})"));
  world.kernel.run_to_rest();
  world.pass(ClassPriorityController::kLookAgain);
  EXPECT_EQ(world.priority("w"), "20");
  // Nobody was behind when it looked then: what is written from now on is somebody's wish.
  world.pass(ClassPriorityController::kLookAgain);
  ASSERT_TRUE(world.merge("workloads", "w", R"({"spec":{"priority":15}})"));
  world.pass(2 * ClassPriorityController::kLookAgain);
  EXPECT_EQ(world.priority("w"), "15");
}

}  // namespace
}  // namespace sluice::host::test
