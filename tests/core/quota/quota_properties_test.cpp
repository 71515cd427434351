// The quota tree against its definition, over random trees and random operations.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "core/quota/quota_tree.hpp"

namespace sluice {
namespace {

int draw(int low, int high) { return *rc::gen::inRange(low, high + 1); }

struct RandomTree {
  FlavorResources frs;
  std::vector<NodeSpec> specs;
  std::vector<NodeId> queues;
  QuotaTree tree;

  RandomTree() {
    const int flavors = draw(1, 2);
    for (int f = 0; f < flavors; ++f)
      frs.intern(frs.intern_flavor("f" + std::to_string(f)), frs.intern_resource("r"));
    const int cohorts = draw(1, 4);
    const int leaves = draw(1, 5);
    for (int i = 0; i < cohorts + leaves; ++i) {
      NodeSpec& spec = specs.emplace_back();
      spec.name = std::to_string(i);
      spec.is_queue = i >= cohorts;
      const int parent = draw(-1, std::min(i, cohorts) - 1);  // parents come first: no cycle
      if (parent >= 0) spec.parent = static_cast<NodeId>(parent);
      if (spec.is_queue) queues.push_back(static_cast<NodeId>(i));
      for (FrId fr = 0; fr < frs.size(); ++fr)
        spec.quotas.push_back({fr, draw(0, 8), draw(0, 2) == 0 ? draw(0, 6) : kUnlimited,
                               draw(0, 2) == 0 ? draw(0, 6) : kUnlimited});
    }
    tree.build(specs, frs);
  }
  std::vector<NodeId> children(NodeId n) const {
    std::vector<NodeId> out;
    for (NodeId c = 0; c < specs.size(); ++c)
      if (specs[c].parent == n) out.push_back(c);
    return out;
  }

  // The definitions of semantics 1, without any memory; `own` is the usage of the leaves.
  using Own = std::vector<std::vector<Wide>>;
  Wide subtree(NodeId n, FrId fr) const {
    Wide sum = specs[n].quotas[fr].nominal;
    for (const NodeId c : children(n)) sum += subtree(c, fr) - local(c, fr);
    return sum;
  }
  Wide local(NodeId n, FrId fr) const {
    const Amount limit = specs[n].quotas[fr].lending_limit;
    return limit == kUnlimited ? 0 : std::max<Wide>(0, subtree(n, fr) - limit);
  }
  Wide usage(NodeId n, FrId fr, const Own& own) const {
    if (specs[n].is_queue) return own[n][fr];
    Wide sum = 0;
    for (const NodeId c : children(n)) sum += std::max<Wide>(0, usage(c, fr, own) - local(c, fr));
    return sum;
  }
  Wide available(NodeId n, FrId fr, const Own& own) const {
    const NodeId up = specs[n].parent;
    if (up == kNone) return subtree(n, fr) - usage(n, fr, own);
    Wide p = available(up, fr, own);
    const Amount limit = specs[n].quotas[fr].borrowing_limit;
    if (limit != kUnlimited)
      p = std::min(p, (subtree(n, fr) - local(n, fr)) -
                          std::max<Wide>(0, usage(n, fr, own) - local(n, fr)) + limit);
    return std::max<Wide>(0, local(n, fr) - usage(n, fr, own)) + p;
  }
  Wide potential(NodeId n, FrId fr) const {
    const NodeId up = specs[n].parent;
    if (up == kNone) return subtree(n, fr);
    const Wide all = local(n, fr) + potential(up, fr);
    const Amount limit = specs[n].quotas[fr].borrowing_limit;
    return limit == kUnlimited ? all : std::min(all, subtree(n, fr) + limit);
  }
};

TEST(QuotaProperties, EveryFigureEqualsItsDefinition) {
  EXPECT_TRUE(rc::check([] {
    RandomTree w;
    RandomTree::Own own(w.specs.size(), std::vector<Wide>(w.frs.size(), 0));
    for (int step = draw(0, 12); step-- > 0;) {
      const NodeId q =
          w.queues[static_cast<std::size_t>(draw(0, static_cast<int>(w.queues.size()) - 1))];
      const auto fr = static_cast<FrId>(draw(0, static_cast<int>(w.frs.size()) - 1));
      const Amount change = draw(0, 3) == 0 ? -static_cast<Amount>(own[q][fr]) : draw(0, 6);
      own[q][fr] += change;
      w.tree.add_usage(q, fr, change);
    }
    for (NodeId n = 0; n < w.specs.size(); ++n) {
      for (FrId fr = 0; fr < w.frs.size(); ++fr) {
        RC_ASSERT(Wide{w.tree.subtree(n, fr)} == w.subtree(n, fr));
        RC_ASSERT(Wide{w.tree.local(n, fr)} == w.local(n, fr));
        RC_ASSERT(Wide{w.tree.potential(n, fr)} == w.potential(n, fr));
        RC_ASSERT(w.tree.usage(n, fr) == w.usage(n, fr, own));
        RC_ASSERT(Wide{w.tree.available(n, fr)} == w.available(n, fr, own));
      }
    }
    for (const NodeId q : w.queues)
      for (FrId fr = 0; fr < w.frs.size(); ++fr)
        w.tree.add_usage(q, fr, -static_cast<Amount>(own[q][fr]));
    for (NodeId n = 0; n < w.specs.size(); ++n)
      for (FrId fr = 0; fr < w.frs.size(); ++fr) RC_ASSERT(w.tree.usage(n, fr) == 0);
  }));
}

TEST(QuotaProperties, WhatIsAvailableMayBeTakenAndLeavesNobodyBeyondTheirPotential) {
  EXPECT_TRUE(rc::check([] {
    RandomTree w;
    for (int step = draw(1, 12); step-- > 0;) {
      const NodeId q =
          w.queues[static_cast<std::size_t>(draw(0, static_cast<int>(w.queues.size()) - 1))];
      const auto fr = static_cast<FrId>(draw(0, static_cast<int>(w.frs.size()) - 1));
      const Amount left = w.tree.available(q, fr);
      RC_ASSERT(left >= 0);  // nothing was lowered, so nothing is ever below zero
      w.tree.add_usage(q, fr, draw(0, static_cast<int>(left)));
      for (NodeId n = 0; n < w.specs.size(); ++n) {
        RC_ASSERT(w.tree.usage(n, fr) <= Wide{w.tree.potential(n, fr)});
        RC_ASSERT(w.tree.available(n, fr) >= 0);
      }
    }
  }));
}

TEST(QuotaProperties, SimulatingInAnyOrderAndUndoingInAnyOtherIsExact) {
  EXPECT_TRUE(rc::check([] {
    RandomTree w;
    struct Step {
      NodeId queue;
      FrId fr;
      Amount amount;
    };
    std::vector<Step> steps;
    for (int n = draw(0, 10); n-- > 0;)
      steps.push_back(
          {w.queues[static_cast<std::size_t>(draw(0, static_cast<int>(w.queues.size()) - 1))],
           static_cast<FrId>(draw(0, static_cast<int>(w.frs.size()) - 1)), draw(-5, 9)});
    const std::size_t kept = steps.size() / 2;
    for (std::size_t i = 0; i < kept; ++i)
      w.tree.add_usage(steps[i].queue, steps[i].fr, steps[i].amount);
    std::vector<Wide> before;
    for (NodeId n = 0; n < w.specs.size(); ++n)
      for (FrId fr = 0; fr < w.frs.size(); ++fr) before.push_back(w.tree.usage(n, fr));
    for (std::size_t i = kept; i < steps.size(); ++i)
      w.tree.add_usage(steps[i].queue, steps[i].fr, steps[i].amount);
    for (std::size_t i = kept; i < steps.size(); ++i)  // first in, first out
      w.tree.add_usage(steps[i].queue, steps[i].fr, -steps[i].amount);
    std::size_t i = 0;
    for (NodeId n = 0; n < w.specs.size(); ++n)
      for (FrId fr = 0; fr < w.frs.size(); ++fr) RC_ASSERT(w.tree.usage(n, fr) == before[i++]);
  }));
}

}  // namespace
}  // namespace sluice
