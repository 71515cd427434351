// What a plugin knows when the first cycle after a start asks it: all that it watches, and who
// holds quota. Turns are those of a host: a few of its objects at a time.
#include <gmock/gmock.h>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "tests/dst/life_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::HasSubstr;

struct Started : ::testing::Test, LifeWorld {
  Started() : LifeWorld(with_the_plugin()) {
    in_small_turns();
    create("namespaces", R"({"metadata":{"name":"default"}})");
    create("resourceflavors", R"({"metadata":{"name":"f"}})");
    create("clusterqueues", R"({"metadata":{"name":"cq"},"spec":{"namespaceSelector":{},
      "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f",
      "resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}})");
    create("localqueues/default", R"({"metadata":{"name":"lq"},"spec":{"clusterQueue":"cq"}})");
    for (const char* name : {"a", "b", "c"})
      create("configmaps/default", std::string(R"({"metadata":{"name":")") + name + R"("}})");
    submit("runs", 100);
    submit("waits", 0);
    EXPECT_THAT(says("waits"), HasSubstr("saw 3, was told Admitted  default/runs"));
  }

  static Configuration with_the_plugin() {
    Configuration out;
    out.plugins.directory = SLUICE_TEST_PLUGINS;
    out.plugins.load.emplace().emplace_back().name = "learns";
    return out;
  }
  void in_small_turns() { life->machine().controllers().limit_run(1, kSecond, clock); }
  void settle() {
    for (int turn = 0; turn < 50; ++turn) ASSERT_EQ(life->turn(now, 1), "");
  }
  void create(std::string_view path, std::string_view body) {
    write(WriteVerb::kCreate, path, body);
    settle();
  }
  /// `cpu`: who asks for as much as another one gets the reason of that one.
  void submit(const std::string& name, int priority, int cpu = 1) {
    create("workloads/default", R"({"metadata":{"name":")" + name +
                                    R"("},"spec":{"queueName":"lq","priority":)" +
                                    std::to_string(priority) +
                                    R"(,"podSets":[{"name":"main","count":1,"template":{"spec":{
      "containers":[{"name":"c","resources":{"requests":{"cpu":")" +
                                    std::to_string(cpu) + R"("}}}]}}}]}})");
  }
  /// Why it waits.
  std::string says(const std::string& name) {
    const auto object = life->machine().kernel().current(*life->scheme().find_by_name("workloads"),
                                                         "default/" + name);
    const auto* reserved = find_condition(part(object, "status"), "QuotaReserved");
    return reserved ? std::string(api::find_text(*reserved, "message")) : std::string();
  }
};

TEST_F(Started, ItHasSeenWhatItWatchesAndWasToldWhoHoldsQuota) {
  restart();
  in_small_turns();
  settle();
  EXPECT_THAT(says("waits"), HasSubstr("saw 3, was told Admitted PresentState default/runs"));
}

// Of a queue that no cycle has looked at yet nothing is told: it stays as it was. A millisecond a
// turn, of which the first ones are the plugin's.
TEST_F(Started, QueuesKeepTheirStatusUntilTheFirstCycle) {
  const auto status = [&]() -> json::object {
    const api::KindInfo& kind = *life->scheme().find_by_name("clusterqueues");
    return part(life->machine().kernel().current(kind, "cq"), "status");
  };
  for (Time at = now; at < now + kSecond; at += 10 * kMillisecond) ASSERT_EQ(life->turn(at), "");
  const auto before = status();
  ASSERT_TRUE(has_condition(before, "Active"));
  ASSERT_EQ(api::find_int(before, "pendingWorkloads"), 1);
  restart();
  in_small_turns();
  for (Time at = now + kSecond; at < now + 2 * kSecond; at += kMillisecond) {
    ASSERT_EQ(life->turn(at, 1), "");
    ASSERT_EQ(status(), before);
  }
}

// Who counts what runs would count it for ever.
TEST_F(Started, WhoIsDeletedWhileItHoldsQuotaIsEvicted) {
  write(WriteVerb::kDelete, "workloads/default/runs", {});
  settle();
  submit("later", 0, 2);
  EXPECT_THAT(says("later"), HasSubstr("was told Evicted Deleted default/runs"));
}

}  // namespace
}  // namespace sluice::host::test
