// Quota is counted for the pods that come: LimitRanges and RuntimeClasses of a cluster, which may
// come, change and go while workloads wait.
#include "host/kernel/made_pods.hpp"

#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

struct MadePodsWorld : HostFixture {
  MadePodsWorld() {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"f"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},
              "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
              "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"5"}]}]}]}})");
    for (const std::string ns : {"default", "other"}) {
      if (ns != "default")
        apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + ns + "\"}}");
      apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq",
                "namespace":")" +
            ns + R"("},"spec":{"clusterQueue":"q"}})");
    }
  }

  /// One pod; `spec`: what stands beside its container, `requests` of that.
  void submit(const std::string& name, const std::string& requests, const std::string& spec = "",
              const std::string& ns = "default") {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
          name + R"(","namespace":")" + ns +
          R"("},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":{
             )" +
          spec + R"("containers":[{"name":"c","resources":{"requests":{)" + requests +
          "}}}]}}}]}}");
    kernel.run_to_rest();
  }
  void limits(const std::string& text) {
    apply(R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l","namespace":"default"},
              "spec":{"limits":[)" +
          text + "]}}");
    kernel.run_to_rest();
  }
  void drop(std::string_view resource, const std::string& key) {
    ASSERT_TRUE(static_cast<ObjectAccess&>(objects).remove(kind(resource), key).ok());
    kernel.run_to_rest();
  }
  /// The cpu that it holds, or why it waits.
  std::string holds(const std::string& key) {
    const boost::json::object workload = get("workloads", key);
    const std::string cpu = at(workload, "/status/admission/podSetAssignments/0/resourceUsage/cpu");
    return cpu == "(absent)" ? at(workload, "/status/conditions/0/message") : cpu;
  }
};

TEST(MadePods, LimitRangesOfTheNamespaceCountAndThoseOfOthersDoNot) {
  MadePodsWorld world;
  world.limits(R"({"type":"Container","defaultRequest":{"cpu":"3"}})");
  world.submit("a", "");
  world.submit("b", R"("cpu":"1")");
  world.submit("c", R"("cpu":"1")", "", "other");
  EXPECT_EQ(world.holds("default/a"), "3");
  EXPECT_EQ(world.holds("default/b"), "1");
  EXPECT_EQ(world.holds("other/c"), "1");
}

/// Who holds quota keeps what it was admitted with; who waits is looked at again.
TEST(MadePods, AChangeCountsForThoseWhoWait) {
  MadePodsWorld world;
  world.apply(R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"kata"},
                  "handler":"kata","overhead":{"podFixed":{"cpu":"2"}}})");
  const std::string kata = R"("runtimeClassName":"kata",)";
  world.submit("a", R"("cpu":"1")", kata);
  world.submit("b", R"("cpu":"1")", kata);
  EXPECT_EQ(world.holds("default/a"), "3");
  EXPECT_EQ(world.holds("default/b"),
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
            "f, 1 more needed");
  auto& access = static_cast<ObjectAccess&>(world.objects);
  auto smaller = world.get("runtimeclasses", "kata");
  smaller["overhead"].as_object()["podFixed"].as_object()["cpu"] = "1";
  ASSERT_TRUE(access.update(std::move(smaller)).ok());
  world.kernel.run_to_rest();
  EXPECT_EQ(world.holds("default/b"), "2");  // 3 + 2 of 5
  EXPECT_EQ(world.holds("default/a"), "3");
}

TEST(MadePods, WhatNobodyMakesWaitsUntilTheLimitIsGone) {
  MadePodsWorld world;
  world.limits(R"({"type":"Container","max":{"cpu":"1"}})");
  world.submit("a", R"("cpu":"2")");
  EXPECT_EQ(world.holds("default/a").substr(0, 28), "resources validation failed:");
  world.submit("b", R"("cpu":"1")");
  EXPECT_EQ(world.holds("default/b"), "1");
  world.drop("limitranges", "default/l");
  EXPECT_EQ(world.holds("default/a"), "2");
}

TEST(MadePods, AreReadSoAfterARestart) {
  MadePodsWorld world;
  world.limits(R"({"type":"Container","defaultRequest":{"cpu":"3"}})");
  world.submit("a", "");
  world.submit("b", "");
  Machine again(world.configuration, *world.rules,
                {.store = world.store, .ids = world.ids, .other_pages = [] {}});
  again.load();
  again.begin_instant(world.now);
  again.kernel().run_to_rest();
  EXPECT_EQ(at(again.kernel().current(world.kind("workloads"), "default/b"),
               "/status/conditions/0/message"),
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor "
            "f, 1 more needed");
}

}  // namespace
}  // namespace sluice::host::test
