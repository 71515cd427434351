// Shares of fair sharing (semantics 6), exact for any numbers.
#include "core/quota/fair_share.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>

namespace sluice {
namespace {

/// root lends `lendable` of r; a and b borrow.
struct TwoQueues {
  FlavorResources frs;
  FrId f, g, other;
  QuotaTree tree;
  static constexpr NodeId kRoot = 0, kA = 1, kB = 2;

  explicit TwoQueues(Amount pool, Amount weight_a = 1000, Amount weight_b = 1000)
      : f(frs.intern(frs.intern_flavor("f"), frs.intern_resource("r"))),
        g(frs.intern(frs.intern_flavor("g"), frs.intern_resource("r"))),
        other(frs.intern(frs.intern_flavor("f"), frs.intern_resource("x"))) {
    std::vector<NodeSpec> specs(3);
    specs[0].name = "root";
    specs[0].quotas = {{f, pool}};
    specs[1].name = "a";
    specs[2].name = "b";
    specs[1].weight_milli = weight_a;
    specs[2].weight_milli = weight_b;
    for (NodeId n : {kA, kB}) {
      specs[n].parent = kRoot;
      specs[n].is_queue = true;
    }
    tree.build(specs, frs);
  }
  Share share(NodeId node) const { return share_of(tree, node); }
};

TEST(Share, IsBorrowedOverLendableOverWeight) {
  TwoQueues w(10, 1000, 2000);
  w.tree.add_usage(TwoQueues::kA, w.f, 4);
  w.tree.add_usage(TwoQueues::kB, w.f, 8);
  EXPECT_EQ(w.share(TwoQueues::kA), w.share(TwoQueues::kB));  // 4/10 and 8/10 of weight 2
  w.tree.add_usage(TwoQueues::kB, w.f, 1);
  EXPECT_LT(w.share(TwoQueues::kA), w.share(TwoQueues::kB));
  EXPECT_FALSE(w.share(TwoQueues::kRoot).borrows);
}

TEST(Share, AllFlavorsOfAResourceAddUp) {
  TwoQueues w(10);
  w.tree.add_usage(TwoQueues::kA, w.f, 4);
  w.tree.add_usage(TwoQueues::kA, w.g, 2);  // nominal 0 everywhere: counts as borrowed
  w.tree.add_usage(TwoQueues::kB, w.f, 6);
  EXPECT_EQ(w.share(TwoQueues::kA), w.share(TwoQueues::kB));
}

TEST(Share, WithWeightZeroItIsInfiniteAsSoonAsItBorrows) {
  TwoQueues w(10, 0, 0);
  EXPECT_FALSE(w.share(TwoQueues::kA).infinite);
  w.tree.add_usage(TwoQueues::kA, w.f, 1);
  w.tree.add_usage(TwoQueues::kB, w.f, 2);
  EXPECT_TRUE(w.share(TwoQueues::kA).infinite);
  EXPECT_LT(w.share(TwoQueues::kA), w.share(TwoQueues::kB));  // 1/10 and 2/10 among themselves
  TwoQueues normal(10, 0, 1);
  normal.tree.add_usage(TwoQueues::kA, normal.f, 1);
  normal.tree.add_usage(TwoQueues::kB, normal.f, 10);
  EXPECT_GT(normal.share(TwoQueues::kA), normal.share(TwoQueues::kB));
}

/// 2 of 3 with weight 1: the API has whole thousandths, rounded up, a metric what it is.
TEST(Share, IsShownRoundedAndMeasuredExactly) {
  TwoQueues w(3, 1000, 0);
  w.tree.add_usage(TwoQueues::kA, w.f, 2);
  EXPECT_EQ(shown_share(w.share(TwoQueues::kA)), 667);
  EXPECT_DOUBLE_EQ(measured_share(w.share(TwoQueues::kA)), 2000.0 / 3);
  EXPECT_EQ(measured_share(w.share(TwoQueues::kB)), 0);
  w.tree.add_usage(TwoQueues::kB, w.f, 1);
  EXPECT_TRUE(std::isnan(measured_share(w.share(TwoQueues::kB)))) << "it has no bound";
}

TEST(Share, WhatCannotBeLentDoesNotCountButIsBorrowed) {
  TwoQueues w(10);
  w.tree.add_usage(TwoQueues::kA, w.other, 5);
  EXPECT_TRUE(w.share(TwoQueues::kA).borrows);
  EXPECT_EQ(w.share(TwoQueues::kA).numerator, 0);
}

TEST(Share, ComparesLikeBigRationals) {
  using Big = boost::multiprecision::cpp_int;
  std::mt19937_64 random(1);
  const auto draw = [&](std::uint64_t low) {
    const auto bits = static_cast<int>(random() % 62);
    return static_cast<Amount>(low + random() % (std::uint64_t{1} << bits));
  };
  for (int i = 0; i < 20'000; ++i) {
    Share x, y;
    const Amount values[] = {draw(0), draw(1), draw(0), draw(1)};
    x.numerator = Wide{values[0]} * 1000;
    x.denominator = Wide{values[1]} * (1 + draw(0) % 1'000'000);
    y = x;
    if (i % 5 != 0) {
      y.numerator = Wide{values[2]} * 1000;
      y.denominator = Wide{values[3]} * (1 + draw(0) % 1'000'000);
    }
    const auto big = [](Wide v) {
      return (Big(static_cast<std::uint64_t>(v >> 64U)) << 64U) |
             Big(static_cast<std::uint64_t>(v));
    };
    const Big left = big(x.numerator) * big(y.denominator);
    const Big right = big(y.numerator) * big(x.denominator);
    EXPECT_EQ(x < y, left < right);
    EXPECT_EQ(x == y, left == right);
  }
}

}  // namespace
}  // namespace sluice
