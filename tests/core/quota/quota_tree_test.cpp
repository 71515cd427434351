// The arithmetic of the quota tree (semantics 1), each case with its sum.
#include "core/quota/quota_tree.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// A tree over one fr, built by name.
struct Tree {
  FlavorResources frs;
  FrId fr;
  QuotaTree tree;
  std::vector<NodeSpec> specs;

  Tree() : fr(frs.intern(frs.intern_flavor("f"), frs.intern_resource("r"))) {}

  NodeId add(const std::string& name, NodeId parent, bool queue, Amount nominal,
             Amount borrow = kUnlimited, Amount lend = kUnlimited, bool active = true) {
    NodeSpec& spec = specs.emplace_back();
    spec.name = name;
    spec.parent = parent;
    spec.is_queue = queue;
    spec.active = active;
    spec.quotas = {{fr, nominal, borrow, lend}};
    return static_cast<NodeId>(specs.size() - 1);
  }
  void build() { tree.build(specs, frs); }
  void use(NodeId queue, Amount amount) { tree.add_usage(queue, fr, amount); }
  Amount available(NodeId node) const { return tree.available(node, fr); }
  Amount potential(NodeId node) const { return tree.potential(node, fr); }
};

TEST(QuotaTree, AQueueAloneHasItsNominal) {
  Tree t;
  const NodeId q = t.add("q", kNone, true, 10);
  t.build();
  t.use(q, 4);
  EXPECT_EQ(t.tree.subtree(q, t.fr), 10);
  EXPECT_EQ(t.available(q), 6);  // 10 − 4
  EXPECT_EQ(t.potential(q), 10);
  EXPECT_EQ(t.tree.borrow_level(q, t.fr, 100).level, 0);  // no node to borrow from
}

// Users name what they like in their requests.
TEST(QuotaTree, OnlyResourcesWithQuotaCostAnything) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 5);
  t.add("q", root, true, 10);
  for (int i = 0; i < 1'000; ++i) t.frs.intern_resource("example.com/r" + std::to_string(i));
  t.build();
  EXPECT_EQ(t.tree.resource_count(), 1U);
  EXPECT_EQ(t.tree.lendable(root, 0), 15);
}

TEST(FlavorResources, AResourceWithoutAPairGoesWithItsLastUse) {
  FlavorResources frs;
  const ResourceId asked = frs.intern_resource("asked"), had = frs.intern_resource("had");
  frs.intern_resource("gone");
  const FrId fr = frs.intern(frs.intern_flavor("f"), had);
  std::vector<bool> used(frs.resources().size());
  used[asked] = true;
  EXPECT_EQ(frs.retain_resources(used), 8U);  // "asked" and "had"
  EXPECT_EQ(frs.resource_name(frs.resource_of(fr)), "had");
  EXPECT_EQ(frs.intern_resource("asked"), asked);
  EXPECT_EQ(frs.resources().known(), 3U);  // with the empty one
}

TEST(QuotaTree, SubtreeSumsWhatChildrenLend) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 5);
  const NodeId a = t.add("a", root, true, 10, kUnlimited, 4);
  const NodeId b = t.add("b", root, true, 3);
  t.build();
  EXPECT_EQ(t.tree.local(a, t.fr), 6);        // 10 − 4 is never lent
  EXPECT_EQ(t.tree.local(b, t.fr), 0);        // lends all
  EXPECT_EQ(t.tree.subtree(root, t.fr), 12);  // 5 + (10 − 6) + 3
  EXPECT_EQ(t.potential(a), 18);              // 6 + 12
  EXPECT_EQ(t.potential(b), 12);
}

TEST(QuotaTree, UsageBubblesOnlyAboveTheLocalPart) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 0);
  const NodeId a = t.add("a", root, true, 10, kUnlimited, 4);
  t.build();
  t.use(a, 5);
  EXPECT_EQ(t.tree.usage(root, t.fr), 0);  // 5 ≤ local 6
  t.use(a, 3);
  EXPECT_EQ(t.tree.usage(root, t.fr), 2);  // 8 − 6
  EXPECT_EQ(t.tree.local_available(a, t.fr), 0);
  EXPECT_EQ(t.available(a), 2);  // 0 local + (4 − 2) above
  t.use(a, -4);
  EXPECT_EQ(t.tree.usage(root, t.fr), 0);
  EXPECT_EQ(t.available(a), 6);  // (6 − 4) local + 4 above
}

TEST(QuotaTree, ABorrowingLimitCapsWhatComesFromAbove) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 100);
  const NodeId a = t.add("a", root, true, 10, 5, 4);
  t.build();
  EXPECT_EQ(t.potential(a), 15);  // subtree 10 + limit 5
  EXPECT_EQ(t.available(a), 15);  // local 6 + min(104, (10 − 6) − 0 + 5 = 9)
  t.use(a, 8);
  EXPECT_EQ(t.available(a), 7);  // 0 + min(102, 4 − 2 + 5)
  t.use(a, 7);
  EXPECT_EQ(t.available(a), 0);
}

TEST(QuotaTree, AvailableIsNegativeAfterQuotaWasLowered) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 0);
  const NodeId a = t.add("a", root, true, 4);
  const NodeId b = t.add("b", root, true, 2);
  t.build();
  t.use(a, 9);                    // admitted when there was more
  EXPECT_EQ(t.available(b), -3);  // 6 − 9
  EXPECT_TRUE(t.tree.fits(b, t.fr, 0));
  EXPECT_FALSE(t.tree.fits(b, t.fr, 1));
}

TEST(QuotaTree, HeightsLeaveInactiveQueuesOut) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 0);
  const NodeId mid = t.add("mid", root, false, 0);
  const NodeId idle = t.add("idle", root, false, 0);
  const NodeId a = t.add("a", mid, true, 1);
  t.add("stopped", idle, true, 1, kUnlimited, kUnlimited, false);
  t.build();
  EXPECT_EQ(t.tree.height(a), 0);
  EXPECT_EQ(t.tree.height(mid), 1);
  EXPECT_EQ(t.tree.height(idle), 0);  // only an inactive queue below
  EXPECT_EQ(t.tree.height(root), 2);
}

TEST(QuotaTree, BorrowLevelIsTheHeightOfTheFirstNodeThatHoldsTheRemainder) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 0);
  const NodeId mid = t.add("mid", root, false, 3);
  const NodeId a = t.add("a", mid, true, 2);
  t.add("b", root, true, 10);
  t.build();
  struct Case {
    Amount amount;
    int level;
    bool reclaim;
  };
  for (const Case c : {Case{2, 0, true},       // within a
                       Case{5, 1, true},       // within mid: 3 + 2
                       Case{6, 2, false},      // only the root has 15
                       Case{16, 2, false}}) {  // none has 16: the root's height
    const auto got = t.tree.borrow_level(a, t.fr, c.amount);
    EXPECT_EQ(got.level, c.level) << c.amount;
    EXPECT_EQ(got.reclaim_possible, c.reclaim) << c.amount;
  }
}

TEST(QuotaTree, TheRemainderShrinksByWhatIsLocallyLeft) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 10);
  const NodeId mid = t.add("mid", root, false, 6, kUnlimited, 2);
  const NodeId a = t.add("a", mid, true, 4, kUnlimited, 1);
  t.build();
  // a: local 3; mid: subtree 6 + 1 = 7, local 5; root: 10 + 2.
  // 9 of a: 6 are asked of mid (≤ 7), so mid holds it: height 1.
  EXPECT_EQ(t.tree.borrow_level(a, t.fr, 9).level, 1);
  // 11 of a: 8 are asked of mid (> 7), 3 of the root (≤ 12).
  EXPECT_EQ(t.tree.borrow_level(a, t.fr, 11).level, 2);
}

TEST(QuotaTree, ChildrenAreOrderedCohortsFirstThenByName) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 0);
  const NodeId q2 = t.add("q2", root, true, 0);
  const NodeId z = t.add("z", root, false, 0);
  const NodeId q1 = t.add("q1", root, true, 0);
  const NodeId b = t.add("b", root, false, 0);
  t.build();
  const auto children = t.tree.children(root);
  EXPECT_EQ(std::vector<NodeId>(children.begin(), children.end()),
            (std::vector<NodeId>{b, z, q1, q2}));
  EXPECT_EQ(t.tree.path(q1), "/root/q1");
}

TEST(QuotaTree, WhatWasAvailableAtTheMarkIsKnownUntilTheNext) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, 5);
  const NodeId a = t.add("a", root, true, 10, 4, 3);
  const NodeId b = t.add("b", root, true, 3);
  t.build();
  const auto marked = [&](NodeId node) { return t.tree.available_as_marked(node, t.fr); };
  t.use(a, 8);
  t.use(b, 1);
  t.tree.mark(root);
  EXPECT_EQ(t.available(a), 6);  // of the root's 11 − (8 − 7) − 1, as its limit allows
  t.use(b, 5);
  t.use(a, 2);
  t.use(b, -1);
  EXPECT_EQ(t.available(a), 3);  // 11 − (10 − 7) − 5
  EXPECT_EQ(marked(a), 6);
  EXPECT_EQ(marked(b), 9);
  t.tree.mark(root);
  EXPECT_EQ(marked(a), 3);
  t.use(a, -2);
  EXPECT_EQ(t.available(b), 5);
  EXPECT_EQ(marked(b), 3);
}

TEST(QuotaTree, HugeAmountsSaturateAndDoNotWrap) {
  Tree t;
  const NodeId root = t.add("root", kNone, false, kMaxAmount);
  const NodeId a = t.add("a", root, true, kMaxAmount);
  t.build();
  EXPECT_EQ(t.tree.subtree(root, t.fr), kMaxAmount);
  EXPECT_EQ(t.potential(a), kMaxAmount);
  for (int i = 0; i < 3; ++i) t.use(a, kMaxAmount);  // usage itself is exact: 3 × the maximum
  EXPECT_LT(t.available(a), 0);
  for (int i = 0; i < 3; ++i) t.use(a, -kMaxAmount);
  EXPECT_EQ(t.tree.usage(root, t.fr), 0);
}

}  // namespace
}  // namespace sluice
