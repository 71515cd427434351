// Relations alone: a Model with bare records, tied and untied in every order.
#include "core/engine/relations.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace sluice {
namespace {

using ::testing::UnorderedElementsAre;

struct RelationsTest : ::testing::Test {
  Model model;
  Relations relations{model};

  RelationsTest() { model.queues.emplace_back(); }

  /// A workload `ns/NAME`, tied to those that its traits name.
  WorkloadId come(const std::string& name, const hooks::Traits& traits = {}, bool holds = false) {
    const WorkloadId id = model.workloads.add();
    WorkloadRecord& w = model.workloads[id];
    auto object = std::make_shared<api::Workload>();
    object->meta.ns = "ns";
    object->meta.name = name;
    w.object = std::move(object);
    w.key = "ns/" + name;
    w.more().traits = traits;
    if (holds) w.holding = std::make_unique<Holding>();
    model.ids.emplace(w.key, id);
    relations.link(id);
    relations.verify();
    return id;
  }
  void go(WorkloadId id) {
    relations.forget(id);
    model.ids.erase(model.workloads[id].key);
    model.workloads[id].object.reset();
    relations.verify();
  }
};

hooks::Traits member(const std::string& group) {
  hooks::Traits traits;
  traits.has_group = true;
  traits.group.id = group;
  traits.group.order_as = "ns/parent";
  return traits;
}
hooks::Traits replacing(const std::string& key) {
  hooks::Traits traits;
  traits.has_replaces = true;
  traits.replaces.workload = key;
  return traits;
}
hooks::Traits following(const std::string& key) {
  hooks::Traits traits;
  traits.follows = key;
  return traits;
}
TEST_F(RelationsTest, MembersOfAGroupShareAUnitAndStandUnderTheirAnchor) {
  const WorkloadId a = come("a", member("g"));
  const WorkloadId b = come("b", member("g"));
  const WorkloadId other = come("c", member("h"));
  EXPECT_EQ(model.workloads[a].unit, model.workloads[b].unit);
  EXPECT_NE(model.workloads[a].unit, model.workloads[other].unit);
  EXPECT_THAT(model.siblings["g"], UnorderedElementsAre(a, b));
  EXPECT_THAT(model.anchored["ns/parent"], UnorderedElementsAre(a, b, other));
  go(a);
  EXPECT_THAT(model.siblings["g"], UnorderedElementsAre(b));
}

/// Of groups and replacements that came and went nothing is left: their units are given out again.
TEST_F(RelationsTest, UnitsOfThoseThatAreGoneAreGivenOutAgain) {
  for (int i = 0; i < 100; ++i) {
    const std::string group = "g" + std::to_string(i);
    const WorkloadId a = come("a", member(group)), b = come("b", member(group));
    const WorkloadId old = come("old"), successor = come("new", replacing("ns/old"));
    for (const WorkloadId id : {a, old, b, successor}) go(id);
  }
  EXPECT_LT(model.ledger.new_unit(), 2U);  // a group's, and that of a replacement
}

TEST_F(RelationsTest, AFollowerGoesWithALeaderThatComesLaterAndNotTheOtherWay) {
  const WorkloadId follower = come("f", following("ns/l"));
  EXPECT_TRUE(relations.named("ns/l"));
  const WorkloadId leader = come("l");
  EXPECT_THAT(model.bound_to(leader), UnorderedElementsAre(follower));
  EXPECT_TRUE(model.bound_to(follower).empty());
  go(leader);
  EXPECT_TRUE(relations.named("ns/l"));  // it may come again
  EXPECT_THAT(model.bound_to(come("l")), UnorderedElementsAre(follower));
}

TEST_F(RelationsTest, WhatReplacesAWorkloadCountsWithIt) {
  const WorkloadId successor = come("new", replacing("ns/old"));
  const WorkloadId old = come("old");
  EXPECT_NE(model.workloads[old].unit, kNone);
  EXPECT_EQ(model.workloads[old].unit, model.workloads[successor].unit);
}

TEST_F(RelationsTest, OneThatWaitsAgainAfterItsReplacementTookItsPlaceCountsForItself) {
  const struct {
    bool old_holds, successor_holds, count_as_one;
  } cases[] = {{false, false, true}, {true, false, true}, {true, true, true}, {false, true, false}};
  for (const auto& each : cases) {
    const WorkloadId successor = come("new", replacing("ns/old"), each.successor_holds);
    const WorkloadId old = come("old", {}, each.old_holds);
    EXPECT_EQ(model.workloads[old].unit == model.workloads[successor].unit, each.count_as_one)
        << each.old_holds << each.successor_holds;
    go(successor);
    go(old);
  }
}

/// Three that name each other in all ways, coming and going in all orders.
TEST_F(RelationsTest, HoldInEveryOrderOfComingAndGoing) {
  const std::vector<std::pair<std::string, hooks::Traits>> cast = {
      {"a", following("ns/b")}, {"b", following("ns/c")}, {"c", replacing("ns/a")}};
  std::vector<std::size_t> coming = {0, 1, 2};
  do {
    std::vector<std::size_t> going = {0, 1, 2};
    do {
      std::vector<WorkloadId> ids(3);
      for (const std::size_t i : coming) ids[i] = come(cast[i].first, cast[i].second);
      EXPECT_THAT(model.bound_to(ids[2]), UnorderedElementsAre(ids[0], ids[1]));
      for (const std::size_t i : going) go(ids[i]);
      EXPECT_TRUE(model.together.empty());
      EXPECT_TRUE(model.siblings.empty());
      EXPECT_FALSE(relations.named("ns/a") || relations.named("ns/b") || relations.named("ns/c"));
    } while (std::next_permutation(going.begin(), going.end()));
  } while (std::next_permutation(coming.begin(), coming.end()));
}

}  // namespace
}  // namespace sluice
