// What plugins say of the order within a ClusterQueue, and what a fault of theirs means.
#include <algorithm>

#include "core/model/model.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

/// q of 2 cores, with the LocalQueues q and r.
struct QueueOrders : ::testing::Test {
  Scenario s;

  void SetUp() override {
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 2}})).local_queue("r", "q");
  }
  void key(const std::string& local_queue, std::int64_t key) {
    s.engine.order("ns/" + local_queue, {key, local_queue + " has it", "orders", ""});
  }
  void fault(const std::string& local_queue) {
    s.engine.order("ns/" + local_queue, {0, "", "orders", "orders: it failed: no key today"});
  }
  Explanation explained(const std::string& name) {
    return s.engine.explain(*s.engine.find("ns/" + name));
  }
  /// The LocalQueues that have lanes in the ClusterQueue, in order of name.
  Log lanes(const std::string& cluster_queue) {
    Log out;
    const Model& model = s.engine.model();
    model.find_queue(cluster_queue)->pending.each_lane([&](std::uint32_t lane) {
      out.push_back(model.names.text(lane));
    });
    std::sort(out.begin(), out.end());
    return out;
  }
  std::size_t ahead(const std::string& name) { return explained(name).ahead_in_cluster_queue; }
};

TEST_F(QueueOrders, TheLocalQueueWithTheLowerKeyIsFirstWhateverThePriority) {
  key("q", 2);
  key("r", 1);
  s.submit(Job("a", "q").cpu(2).priority(9)).submit(Job("b", "r").cpu(2));
  EXPECT_EQ(s.run(), Lines("reserved b", "admitted b"));
  EXPECT_EQ(s.finish("b").run(), Lines("finished b Succeeded", "reserved a", "admitted a"));
}

TEST_F(QueueOrders, AChangedKeyHoldsFromTheNextCycleOn) {
  s.submit(Job("running", "q").cpu(2)).run();
  s.submit(Job("a", "q").cpu(2)).submit(Job("b", "r").cpu(2)).run();
  EXPECT_EQ(ahead("b"), 1U) << "older first, as long as nothing is said";
  key("q", 1);
  EXPECT_EQ(ahead("b"), 0U);
  ASSERT_EQ(explained("a").order.size(), 1U);
  EXPECT_EQ(explained("a").order[0].by, "orders");
  EXPECT_EQ(explained("a").order[0].text, "q has it");
  EXPECT_TRUE(explained("b").order.empty()) << "nothing was said of r";
  key("q", 0);
  EXPECT_EQ(ahead("b"), 1U);
  key("r", -1);
  EXPECT_EQ(s.finish("running").run(),
            Lines("finished running Succeeded", "reserved b", "admitted b"));
}

TEST_F(QueueOrders, AKeyBetweenTwoCyclesOfOneInstantDecides) {
  s.submit(Job("a1", "q").cpu(1)).submit(Job("a2", "q").cpu(1)).submit(Job("b", "r").cpu(1));
  ASSERT_TRUE(s.step());
  EXPECT_EQ(s.last(), Lines("reserved a1", "admitted a1"));
  key("q", 1);  // it has used something now
  ASSERT_TRUE(s.step());
  EXPECT_EQ(s.last(), Lines("reserved a1", "admitted a1", "reserved b", "admitted b"));
}

TEST_F(QueueOrders, AFaultOfOneLocalQueueMeansTheBuiltInOrderForAll) {
  key("q", 2);
  key("r", 1);
  s.submit(Job("running", "q").cpu(2)).run();
  s.submit(Job("a", "q").cpu(2)).submit(Job("b", "r").cpu(2)).run();
  EXPECT_EQ(ahead("b"), 0U);
  fault("q");  // a key of 0 for q alone would put it in front of r
  EXPECT_EQ(ahead("a"), 0U);
  EXPECT_EQ(ahead("b"), 1U);
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(explained(name).order.size(), 1U);
    EXPECT_EQ(explained(name).order[0].text,
              "orders: it failed: no key today; so the order is by priority and time");
  }
  key("q", 2);
  EXPECT_EQ(ahead("b"), 0U) << "it answers again";
}

TEST_F(QueueOrders, AFaultGoesWithItsLocalQueue) {
  key("r", 1);
  fault("q");
  s.submit(Job("b", "r").cpu(9)).run();
  EXPECT_EQ(explained("b").order[0].text.find("orders: it failed"), 0U);
  s.engine.remove(api::ObjectKind::kLocalQueue, "ns/q");
  EXPECT_EQ(explained("b").order[0].text, "r has it");
}

// LocalQueues with keys come, lead elsewhere and go, with and without a workload that waits.
TEST_F(QueueOrders, AKeyGoesWithItsLocalQueue) {
  s.queue(Queue("p").quota("cpu", {{"f", 2}}));
  key("q", 1);
  key("r", 2);
  s.submit(Job("a", "q").cpu(9)).submit(Job("b", "r").cpu(9)).run();
  std::size_t most_names = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i), name = "lq" + n;
    s.local_queue(name, "q");
    key(name, 3 + i);
    if (i % 10 == 0) s.submit(Job("w" + n, name).cpu(9));
    if (i % 3 == 0) {
      s.local_queue(name, "p");
      key(name, 3 + i);
    }
    s.run();
    s.engine.remove(api::ObjectKind::kLocalQueue, "ns/" + name);
    if (i % 10 == 0) s.remove("w" + n);
    s.run();
    most_names = std::max(most_names, s.engine.model().names.known());
  }
  EXPECT_EQ(lanes("q"), Lines("ns/q", "ns/r"));
  EXPECT_EQ(lanes("p"), Log());
  EXPECT_LE(most_names, 2U * 1024U) << "a sweep is due after 1,024";
  EXPECT_EQ(ahead("b"), 1U) << "q has 1, r has 2";
}

TEST_F(QueueOrders, ALocalQueueThatComesAgainHasNoKeyUntilOneIsGiven) {
  key("q", 1);
  key("r", 2);
  s.submit(Job("b", "r").cpu(9)).submit(Job("a", "q").cpu(9)).run();
  EXPECT_EQ(ahead("b"), 1U);
  s.engine.remove(api::ObjectKind::kLocalQueue, "ns/r");
  s.local_queue("r", "q").run();
  EXPECT_EQ(ahead("b"), 0U) << "0 is before q's 1";
}

TEST_F(QueueOrders, AStrictQueueTriesItsNewHead) {
  s.queue(Queue("q").quota("cpu", {{"f", 2}}).strict());
  s.submit(Job("big", "q").cpu(5)).submit(Job("small", "r").cpu(1));
  EXPECT_EQ(s.run(), Log()) << "big blocks the queue";
  key("r", -1);
  EXPECT_EQ(s.run(), Lines("reserved small", "admitted small"));
}

struct Keys final : hooks::WorkloadTraits {
  std::map<std::string, std::int64_t> of;
  void traits(const hooks::TraitsQuery& query, hooks::TraitsAnswer& out, hooks::Fault&) override {
    const std::string& name = query.workload.meta.name;
    if (!of.contains(name)) {
      out.traits.order.fault = "orders: it failed";
    } else {
      out.traits.order.key = of[name];
    }
  }
};

TEST(WorkloadOrders, KeysOfWorkloadsComeWithTheirTraits) {
  Keys keys;
  keys.of = {{"running", 0}, {"a", 2}, {"b", 1}};
  hooks::HostHooks hooks;
  hooks.workload_traits = &keys;
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 2}}));
  s.submit(Job("running", "q").cpu(2)).run();
  s.submit(Job("a", "q").cpu(2).priority(5)).submit(Job("b", "q").cpu(2)).run();
  const auto ahead = [&](const char* name) {
    return s.engine.explain(*s.engine.find(std::string("ns/") + name)).ahead_in_cluster_queue;
  };
  EXPECT_EQ(ahead("b"), 0U);
  keys.of["a"] = 0;
  s.traits_changed("a");
  EXPECT_EQ(ahead("a"), 0U);
  keys.of["a"] = 3;
  s.traits_changed("a");
  EXPECT_EQ(ahead("a"), 1U);
  s.submit(Job("c", "q").cpu(1).priority(1)).run();  // of which nothing is known
  EXPECT_EQ(ahead("a"), 0U) << "by priority: a 5, c 1, b 0";
  EXPECT_EQ(ahead("c"), 1U);
}

}  // namespace
}  // namespace sluice::testing
