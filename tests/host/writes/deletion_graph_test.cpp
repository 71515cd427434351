// Deletion over ownership graphs: objects that own themselves or each other, webs that share their
// dependents, and random ones against what must hold of each.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "api/json/steps.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::HostFixture;

/// ConfigMaps m0, m1, … of which each may own others.
class Graph {
 public:
  explicit Graph(std::size_t nodes) : owners_(nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto made = host.create("configmaps", R"({"metadata":{"name":")" + name(i) + "\"}}");
      EXPECT_TRUE(made.ok());
      uids_.push_back(test::at(host.get("configmaps", "default/" + name(i)), "/metadata/uid"));
    }
  }

  void own(std::size_t owner, std::size_t dependent) { owners_[dependent].insert(owner); }
  void hold(std::size_t node) { held_.insert(node); }

  /// Writes down which objects own which, and what holds which.
  void settle() {
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      std::string list;
      for (const std::size_t owner : owners_[i])
        list += (list.empty() ? "" : ",") + (R"({"apiVersion":"v1","kind":"ConfigMap","name":")" +
                                             name(owner) + R"(","uid":")" + uids_[owner] + "\"}");
      std::string patch = R"({"metadata":{"ownerReferences":[)" + list + "]";
      if (held_.count(i) != 0) patch += R"(,"finalizers":["a/b"])";
      EXPECT_TRUE(host.merge("configmaps", name(i), patch + "}}").ok());
    }
  }

  void remove(std::size_t node, Propagation propagation) {
    const auto done = host.remove("configmaps", name(node), propagation);
    EXPECT_TRUE(done.ok() || done.error().code == 404);
  }
  void let_go(std::size_t node) {
    if (!exists(node)) return;
    const std::string patch = R"([{"op":"remove","path":"/metadata/finalizers/)" +
                              std::to_string(place_of_hold(node)) + "\"}]";
    WriteRequest request = host.request(WriteVerb::kPatch, "configmaps", name(node), patch);
    request.patch_type = PatchType::kJson;
    const auto done = host.machine.write(std::move(request));
    EXPECT_TRUE(done.ok()) << done.error().text;
  }

  bool exists(std::size_t node) { return host.exists("configmaps", "default/" + name(node)); }
  std::vector<std::size_t> left() {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < owners_.size(); ++i)
      if (exists(i)) out.push_back(i);
    return out;
  }
  std::string text(std::size_t node) {
    return boost::json::serialize(host.get("configmaps", "default/" + name(node)));
  }
  const std::set<std::size_t>& held() const { return held_; }

  /// `node` and all that hangs on it.
  std::set<std::size_t> below(std::size_t node) const {
    std::set<std::size_t> out = {node};
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < owners_.size(); ++i)
        for (const std::size_t owner : owners_[i])
          if (out.count(owner) != 0 && out.insert(i).second) more = true;
    }
    return out;
  }

  HostFixture host;

 private:
  static std::string name(std::size_t node) { return "m" + std::to_string(node); }
  std::size_t place_of_hold(std::size_t node) {
    const auto object = host.get("configmaps", "default/" + name(node));
    const auto& list = object.at("metadata").at("finalizers").as_array();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i] == "a/b") return i;
    ADD_FAILURE() << text(node);
    return 0;
  }

  std::vector<std::string> uids_;
  std::vector<std::set<std::size_t>> owners_;
  std::set<std::size_t> held_;
};

TEST(Deletion, A6WhatOwnsItselfOrEachOtherGoes) {
  for (const auto propagation : {Propagation::kBackground, Propagation::kForeground}) {
    Graph self(1);
    self.own(0, 0);
    self.settle();
    self.remove(0, propagation);
    EXPECT_TRUE(self.left().empty());
    Graph pair(3);  // 0 ⇄ 1, 2 hangs on both
    pair.own(0, 1);
    pair.own(1, 0);
    pair.own(0, 2);
    pair.own(1, 2);
    pair.settle();
    pair.remove(0, propagation);
    EXPECT_TRUE(pair.left().empty());
  }
}

// 0 ⇄ 1, and 2 hangs on 1 and is held: all wait for 2, and go with it.
TEST(Deletion, A6ACircleWaitsForWhatHoldsIt) {
  Graph graph(3);
  graph.own(0, 1);
  graph.own(1, 0);
  graph.own(1, 2);
  graph.hold(2);
  graph.settle();
  graph.remove(0, Propagation::kForeground);
  EXPECT_EQ(graph.left(), (std::vector<std::size_t>{0, 1, 2}));
  graph.let_go(2);
  EXPECT_TRUE(graph.left().empty());
  // The same, when a member of the circle is held itself.
  Graph held(2);
  held.own(0, 1);
  held.own(1, 0);
  held.hold(1);
  held.settle();
  held.remove(0, Propagation::kForeground);
  EXPECT_EQ(held.left(), (std::vector<std::size_t>{0, 1}));
  held.let_go(1);
  EXPECT_TRUE(held.left().empty());
}

// 20 levels of two, each owned by both of the level above: 80 references, 2^20 ways down.
TEST(Deletion, A6DiamondsCostTheirReferences) {
  constexpr std::size_t kLevels = 20;
  for (const bool held : {false, true}) {
    Graph graph(2 * kLevels);
    for (std::size_t i = 2; i < 2 * kLevels; ++i) {
      graph.own((i - 2) / 2 * 2, i);
      graph.own((i - 2) / 2 * 2 + 1, i);
    }
    graph.own(1, 0);
    if (held) graph.hold(2 * kLevels - 1);
    graph.settle();
    const std::uint64_t before = api::Steps::taken();
    graph.remove(1, Propagation::kForeground);
    // Each of 40 objects is read and written a few times, some 10 values each.
    EXPECT_LT(api::Steps::taken() - before, 20'000U);
    if (held) graph.let_go(2 * kLevels - 1);
    EXPECT_TRUE(graph.left().empty()) << graph.text(graph.left().front());
  }
}

// Random graphs with circles, of which some are held; one is deleted, then all holds go, in a
// random order. What hung on it by any way and on nothing else is gone, and no other object.
TEST(Deletion, A6RandomGraphsComeToRest) {
  for (unsigned seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return std::size_t{random()} % n; };
    const std::size_t nodes = 1 + below(9);
    Graph graph(nodes);
    for (std::size_t edges = below(2 * nodes + 1); edges > 0; --edges)
      graph.own(below(nodes), below(nodes));
    for (std::size_t i = 0; i < nodes; ++i)
      if (below(4) == 0) graph.hold(i);
    graph.settle();
    const std::size_t root = below(nodes);
    const std::set<std::size_t> doomed = graph.below(root);
    const std::uint64_t before = api::Steps::taken();
    graph.remove(root, Propagation::kForeground);
    EXPECT_LT(api::Steps::taken() - before, 5'000U);
    for (std::size_t i = 0; i < nodes; ++i) {
      // Nothing that is held goes before it is let go.
      if (graph.held().count(i) != 0) {
        EXPECT_TRUE(graph.exists(i)) << i;
      }
      if (doomed.count(i) == 0) {
        EXPECT_TRUE(graph.exists(i)) << i;
        EXPECT_EQ(graph.text(i).find("deletionTimestamp"), std::string::npos);
      }
    }
    std::vector<std::size_t> held(graph.held().begin(), graph.held().end());
    std::shuffle(held.begin(), held.end(), random);
    for (const std::size_t node : held)
      if (doomed.count(node) != 0) graph.let_go(node);
    for (std::size_t i = 0; i < nodes; ++i)
      EXPECT_EQ(graph.exists(i), doomed.count(i) == 0) << i << " below " << root;
  }
}

}  // namespace
}  // namespace sluice::host
