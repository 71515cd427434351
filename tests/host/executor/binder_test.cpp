#include "host/executor/binder.hpp"

#include <gtest/gtest.h>

#include "host/executor/nodes.hpp"
#include "host/executor/pod_controller.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::at;

struct BinderTest : testing::Test, test::HostFixture {
  BinderTest() { controllers.add(binder); }

  void nodes(std::vector<NodeConfig> configured) {
    ExecutorConfig executor;
    executor.nodes = std::move(configured);
    const auto done = ensure_nodes(executor, {"self", "6.1", "amd64", 2, 1024}, objects);
    ASSERT_TRUE(done) << done.error().text;
    kernel.run_to_rest();
  }
  static NodeConfig node(const std::string& name, const std::string& cpu,
                         std::vector<std::pair<std::string, std::string>> labels = {}) {
    NodeConfig out;
    out.name = name;
    out.capacity = {{"cpu", cpu}, {"memory", "1Gi"}};
    out.labels = std::move(labels);
    return out;
  }
  void pod(const std::string& name, const std::string& spec, const std::string& cpu = "1") {
    const auto done = create("pods", R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec +
                                         R"("containers":[{"name":"c","image":"i","resources":)" +
                                         R"({"requests":{"cpu":")" + cpu + R"("}}}]}})");
    ASSERT_TRUE(done) << done.error().text;
    kernel.run_to_rest();
  }
  std::string node_of(const std::string& name) {
    return at(get("pods", "default/" + name), "/spec/nodeName");
  }
  std::string why(const std::string& name) {
    const auto object = get("pods", "default/" + name);
    return at(object, "/status/conditions/0/reason") + ": " +
           at(object, "/status/conditions/0/message");
  }
  void end(const std::string& name) {
    ASSERT_TRUE(merge("pods", name, R"({"status":{"phase":"Succeeded"}})", "status"));
    kernel.run_to_rest();
  }

  Binder binder;
};

TEST_F(BinderTest, SpreadsByLoadThenName) {
  nodes({node("a", "4"), node("b", "2")});
  // Shares of cpu afterwards: a 1/4, b 1/2; a 2/4, b 1/2: equal, a by name; a 3/4, b 1/2.
  for (const char* name : {"p1", "p2", "p3"}) pod(name, "");
  EXPECT_EQ(node_of("p1"), "a");
  EXPECT_EQ(node_of("p2"), "a");
  EXPECT_EQ(node_of("p3"), "b");
  EXPECT_EQ(at(get("pods", "default/p1"), "/status/conditions/0/type"), "PodScheduled");
  EXPECT_EQ(at(get("pods", "default/p1"), "/status/conditions/0/status"), "True");
}

TEST_F(BinderTest, WaitsForRoomAndSaysSo) {
  nodes({node("a", "2")});
  pod("p1", "", "2");
  pod("p2", "");
  EXPECT_EQ(node_of("p2"), "(absent)");
  EXPECT_EQ(why("p2"), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
  end("p1");
  EXPECT_EQ(node_of("p2"), "a");
}

TEST_F(BinderTest, SelectorsAffinityAndTaints) {
  NodeConfig tainted = node("t", "8", {{"kind", "gpu"}});
  tainted.taints = {{"gpu", "yes", "NoSchedule"}};
  nodes({node("a", "1", {{"kind", "plain"}}), tainted});
  struct Case {
    const char *name, *spec, *node;
  };
  for (const Case& c : {
           Case{"sel", R"("nodeSelector":{"kind":"plain"},)", "a"},
           Case{"none", R"("nodeSelector":{"kind":"other"},)", "(absent)"},
           Case{"tol",
                R"("nodeSelector":{"kind":"gpu"},"tolerations":[{"key":"gpu","operator":)"
                R"("Equal","value":"yes","effect":"NoSchedule"}],)",
                "t"},
           Case{"untol", R"("nodeSelector":{"kind":"gpu"},)", "(absent)"},
           Case{"aff",
                R"("tolerations":[{"operator":"Exists"}],"affinity":{"nodeAffinity":{)"
                R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
                R"({"matchExpressions":[{"key":"kind","operator":"In","values":["gpu"]}]})"
                R"(]}}},)",
                "t"},
       }) {
    pod(c.name, c.spec);
    EXPECT_EQ(node_of(c.name), c.node) << c.name;
  }
  EXPECT_EQ(why("untol"),
            "Unschedulable: 0/2 nodes are available: 1 node(s) didn't match Pod's node "
            "affinity/selector {kind: gpu}, 1 node(s) had untolerated taint {gpu: yes}.");
}

// Tolerations are what may be added to a pod; pods have two for nodes that are not reachable.
TEST_F(BinderTest, ATolerationThatIsAddedCounts) {
  NodeConfig tainted = node("t", "8");
  tainted.taints = {{"gpu", "yes", "NoSchedule"}};
  nodes({tainted});
  pod("p", "");
  EXPECT_EQ(node_of("p"), "(absent)");
  boost::json::array all;
  if (const auto* present =
          get("pods", "default/p").at("spec").as_object().if_contains("tolerations"))
    all = present->as_array();
  all.push_back(boost::json::object{{"key", "gpu"}, {"operator", "Exists"}});
  ASSERT_TRUE(merge(
      "pods", "p",
      api::to_json(boost::json::object{{"spec", boost::json::object{{"tolerations", all}}}})));
  kernel.run_to_rest();
  EXPECT_EQ(node_of("p"), "t");
}

// A pass over all that wait read each of them, however large, to find that it says so already.
TEST_F(BinderTest, A7_WhoWaitsAndSaysSoIsNotReadAgain) {
  nodes({node("a", "1")});
  for (const char* name : {"p1", "p2", "p3"}) pod(name, "", "2");
  EXPECT_EQ(why("p2"), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
  const auto pass = [&] {
    const std::uint64_t before = api::Conversions::parses();
    EXPECT_TRUE(binder.reconcile({}, objects));
    return api::Conversions::parses() - before;
  };
  EXPECT_EQ(pass(), 0U);
  // When a client takes the reason out of the status it is written again.
  ASSERT_TRUE(merge("pods", "p2", R"({"status":{"conditions":[]}})", "status"));
  EXPECT_GT(pass(), 0U);
  EXPECT_EQ(why("p2"), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(pass(), 0U);
}

TEST_F(BinderTest, ASelectorOfMoreLabelsThanAnythingHasMatchesNothing) {
  nodes({node("a", "1", {{"k1", "v"}})});
  std::string selector;
  for (int i = 1; i <= 2'000; ++i)
    selector += (i == 1 ? "" : ",") + std::string("\"k") + std::to_string(i) + R"(":"v")";
  pod("p", R"("nodeSelector":{)" + selector + "},");
  EXPECT_EQ(why("p"),
            "Unschedulable: 0/1 nodes are available: 1 node(s) didn't match Pod's node "
            "affinity/selector {k10: v}.");
}

TEST_F(BinderTest, GatedPodsAreNotBound) {
  nodes({node("a", "2")});
  pod("p", R"("schedulingGates":[{"name":"x"}],)");
  EXPECT_EQ(node_of("p"), "(absent)");
  EXPECT_EQ(why("p"), "SchedulingGated: Scheduling is blocked due to non-empty scheduling gates");
  ASSERT_TRUE(merge("pods", "p", R"({"spec":{"schedulingGates":null}})"));
  kernel.run_to_rest();
  EXPECT_EQ(node_of("p"), "a");
}

TEST_F(BinderTest, HigherPriorityFirstAndCordonedNodesNot) {
  nodes({node("a", "1")});
  ASSERT_TRUE(merge("nodes", "a", R"({"spec":{"unschedulable":true}})"));
  for (const char* each : {"low", "high"})
    apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")" +
          std::string(each) + R"("},"value":)" + (each == std::string("high") ? "9" : "1") + "}");
  // What a pod says of itself is not believed.
  pod("low", R"("priorityClassName":"low","priority":2000000000,)");
  pod("high", R"("priorityClassName":"high",)");
  EXPECT_EQ(why("low"), "Unschedulable: 0/1 nodes are available: 1 node(s) were unschedulable.");
  ASSERT_TRUE(merge("nodes", "a", R"({"spec":{"unschedulable":null}})"));
  kernel.run_to_rest();
  EXPECT_EQ(node_of("high"), "a");
  EXPECT_EQ(node_of("low"), "(absent)");
}

// It would hold the node, and keep others from it, without ever running there.
TEST_F(BinderTest, APodThatNamesItsNodeWaitsForRoomOnThatOne) {
  nodes({node("a", "4"), node("b", "2")});
  pod("large", R"("nodeName":"a",)", "100");
  EXPECT_EQ(
      why("large"),
      "Unschedulable: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match the "
      "requested node name.");
  pod("fits", R"("nodeName":"b",)", "2");
  EXPECT_EQ(at(get("pods", "default/fits"), "/status/conditions/0/status"), "True");
  pod("second", R"("nodeName":"b",)", "1");
  EXPECT_EQ(
      why("second"),
      "Unschedulable: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match the "
      "requested node name.");
  pod("other", "", "4");
  EXPECT_EQ(node_of("other"), "a");
  end("fits");
  EXPECT_EQ(at(get("pods", "default/second"), "/status/conditions/0/status"), "True");
}

TEST_F(BinderTest, APodWithGatesNamesNoNode) {
  nodes({node("a", "4")});
  const auto refused = create(
      "pods",
      R"({"metadata":{"name":"p"},"spec":{"nodeName":"a","schedulingGates":[{"name":"x/y"}],)"
      R"("containers":[{"name":"c","image":"i"}]}})");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("cannot be set while there are scheduling gates"),
            std::string::npos);
}

// Room for 4. Four of `default` are older than the one of `other`, which has its turn before the
// second of them; and with 2 of `default` and 1 of `other` there, the next is of `other`.
TEST_F(BinderTest, NamespacesTakeTurns) {
  const auto pod_of_other = [&](const std::string& name) {
    apply(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"other","name":")" + name +
          R"("},"spec":{"containers":[{"name":"c","image":"i",)" +
          R"("resources":{"requests":{"cpu":"1"}}}]}})");
    kernel.run_to_rest();
  };
  const auto placed = [&](const std::string& key) {
    return at(get("pods", key), "/spec/nodeName") == "a";
  };
  nodes({node("a", "4")});
  ASSERT_TRUE(merge("nodes", "a", R"({"spec":{"unschedulable":true}})"));
  for (const char* name : {"p1", "p2", "p3", "p4"}) pod(name, "");
  apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"}})");
  pod_of_other("q");
  ASSERT_TRUE(merge("nodes", "a", R"({"spec":{"unschedulable":null}})"));
  kernel.run_to_rest();
  EXPECT_TRUE(placed("other/q"));
  for (const char* name : {"default/p1", "default/p2", "default/p3"})
    EXPECT_TRUE(placed(name)) << name;
  EXPECT_FALSE(placed("default/p4"));
  pod_of_other("r");
  end("p1");
  EXPECT_TRUE(placed("other/r"));
  EXPECT_FALSE(placed("default/p4"));
  end("p2");
  EXPECT_TRUE(placed("default/p4"));
}

TEST_F(BinderTest, NodesFollowTheConfiguration) {
  nodes({node("a", "2"), node("b", "2")});
  ASSERT_TRUE(merge("nodes", "a", R"({"metadata":{"labels":{"mine":"1"}}})"));
  nodes({node("a", "3", {{"new", "1"}})});
  EXPECT_FALSE(exists("nodes", "b"));
  const auto kept = get("nodes", "a");
  EXPECT_EQ(at(kept, "/metadata/labels/mine"), "1");
  EXPECT_EQ(at(kept, "/metadata/labels/new"), "1");
  EXPECT_EQ(at(kept, "/status/allocatable/cpu"), "3");
  nodes({});  // this machine
  EXPECT_EQ(at(get("nodes", "self"), "/status/capacity/cpu"), "2");
}

TEST_F(BinderTest, ADeletedPodThatNeverRanIsRemoved) {
  PodController ends;
  controllers.add(ends);
  ASSERT_TRUE(create("pods", R"({"metadata":{"name":"p","finalizers":[)"
                             R"("batch.kubernetes.io/job-tracking"]},"spec":{"containers":)"
                             R"([{"name":"c","image":"i"}]}})"));
  kernel.run_to_rest();
  ASSERT_TRUE(remove("pods", "p"));
  kernel.run_to_rest();
  EXPECT_FALSE(exists("pods", "default/p"));
}

}  // namespace
}  // namespace sluice::host
