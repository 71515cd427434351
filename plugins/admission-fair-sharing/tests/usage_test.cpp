// What a LocalQueue has used: decay, entry penalties, shares, quantities.
#include "../usage.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace afs {
namespace {

Rates rates(double half_life, double sampling, Amounts weights = {}) {
  return {half_life, sampling, std::move(weights)};
}

TEST(Decay, HalfOfTheDistanceIsGoneInEachHalfLife) {
  struct Row {
    double consumed, held;
    std::int64_t seconds;
    double expected;
  };
  for (const Row& row : {Row{8, 0, 60, 4},     // 8 · ½
                         Row{8, 0, 120, 2},    // 8 · ¼
                         Row{0, 8, 60, 4},     // 8 · (1 − ½)
                         Row{0, 8, 120, 6},    // 8 · (1 − ¼)
                         Row{2, 10, 60, 6},    // 10 + (2 − 10) · ½
                         Row{10, 2, 60, 6},    // 2 + (10 − 2) · ½
                         Row{5, 5, 77, 5}}) {  // what is held all the time is what was used
    Usage usage{{{"cpu", row.consumed}}, {{"cpu", row.held}}, 1000};
    settle(usage, 1000 + row.seconds, rates(60, 10));
    EXPECT_EQ(usage.consumed["cpu"], row.expected) << row.consumed << " " << row.held;
    EXPECT_EQ(usage.at, 1000 + row.seconds);
  }
}

TEST(Decay, IsTheSameInOneStepAndInMany) {
  Usage once{{{"cpu", 3}}, {{"cpu", 8}}, 0};
  Usage often = once;
  settle(once, 600, rates(60, 10));
  for (std::int64_t at = 1; at <= 600; ++at) settle(often, at, rates(60, 10));
  EXPECT_NEAR(once.consumed["cpu"], often.consumed["cpu"], 1e-6);  // 600 roundings of 1e-9
}

TEST(Decay, TimeDoesNotGoBack) {
  Usage usage{{{"cpu", 8}}, {}, 1000};
  settle(usage, 900, rates(60, 10));
  EXPECT_EQ(usage, (Usage{{{"cpu", 8}}, {}, 1000}));
}

TEST(Decay, WhatIsForgottenIsNotNamed) {
  Usage usage{{{"cpu", 1}}, {}, 0};
  settle(usage, 60 * 40, rates(60, 10));  // 2^-40 is less than half a billionth
  EXPECT_TRUE(usage.consumed.empty());
}

TEST(Entry, CountsForOneSamplingIntervalAtOnce) {
  Usage usage{{{"cpu", 1}}, {}, 0};
  enter(usage, {{"cpu", 8}}, {}, rates(60, 60));  // 1 + 8 · (1 − 2^(−60/60))
  EXPECT_EQ(usage.consumed["cpu"], 5);
  EXPECT_EQ(usage.held["cpu"], 8);
  leave(usage, {{"cpu", 8}});
  EXPECT_TRUE(usage.held.empty());
  EXPECT_EQ(usage.consumed["cpu"], 5) << "what was used stays used";
}

TEST(Entry, OfOneInTheSamePlaceOnlyWhatIsMoreCounts) {
  struct Row {
    double amount, counted, expected;
  };
  for (const Row& row : {Row{8, 6, 1},     // (8 − 6) · (1 − 2^(−60/60))
                         Row{8, 8, 0},     //
                         Row{4, 8, 0}}) {  // less is no entry, and gives nothing back
    Usage usage;
    enter(usage, {{"cpu", row.amount}}, {{"cpu", row.counted}}, rates(60, 60));
    EXPECT_EQ(usage.consumed["cpu"], row.expected) << row.amount << " " << row.counted;
    EXPECT_EQ(usage.held["cpu"], row.amount);
  }
}

TEST(Entry, OneThatIsThereAlreadyCountsNotAgain) {
  Usage usage;
  hold(usage, {{"cpu", 8}});
  EXPECT_TRUE(usage.consumed.empty());
}

TEST(Share, IsTheWeightedSumByTheWeight) {
  const Amounts consumed{{"cpu", 3}, {"gpu", 2}};
  EXPECT_EQ(share_of(consumed, 1, rates(1, 1)), 5);                              // 3 + 2
  EXPECT_EQ(share_of(consumed, 1, rates(1, 1, {{"cpu", 2}, {"gpu", 0.5}})), 7);  // 6 + 1
  EXPECT_EQ(share_of(consumed, 2, rates(1, 1)), 2.5);                            // 5 / 2
  EXPECT_EQ(share_of(consumed, 2, rates(1, 1, {{"cpu", 0}, {"gpu", 0}})), 0);
  EXPECT_TRUE(std::isinf(share_of({}, 0, rates(1, 1)))) << "weight 0 comes last";
}

TEST(Share, KeysHaveItsOrder) {
  const double shares[] = {0, 1e-9, 0.5, 1, 1.000000001, 3, 1e12, INFINITY};
  EXPECT_EQ(key_of(0), 0) << "one that used nothing is where one without a key is";
  for (std::size_t i = 1; i < std::size(shares); ++i)
    EXPECT_LT(key_of(shares[i - 1]), key_of(shares[i])) << shares[i];
}

TEST(Quantities, AreReadAndWritten) {
  struct Row {
    const char* text;
    double amount;
    const char* written;
  };
  for (const Row& row :
       {Row{"2", 2, "2"}, Row{"250m", 0.25, "0.25"}, Row{"1Gi", 1073741824, "1073741824"},
        Row{"1.5k", 1500, "1500"}, Row{"3e2", 300, "300"}, Row{"0", 0, "0"},
        Row{"1n", 1e-9, "0.000000001"}}) {
    ASSERT_TRUE(quantity_of(row.text)) << row.text;
    EXPECT_EQ(*quantity_of(row.text), row.amount);
    EXPECT_EQ(quantity_text(row.amount), row.written);
  }
  for (const char* text : {"", "x", "1x", "Gi", "nan", "inf", "1 Gi"})
    EXPECT_FALSE(quantity_of(text)) << text;
}

TEST(Quantities, AreToldWithThreeDigits) {
  struct Row {
    const char* resource;
    double amount;
    const char* told;
  };
  for (const Row& row :
       {Row{"cpu", 4, "4 cpu"}, Row{"cpu", 0.25, "0.25 cpu"}, Row{"cpu", 0.001, "under 0.01 cpu"},
        Row{"cpu", 12345.6, "12346 cpu"}, Row{"memory", 2138000, "2.04Mi memory"},
        Row{"memory", 500, "500 memory"}, Row{"memory", 1610612736, "1.5Gi memory"},
        Row{"hugepages-2Mi", 1047527424, "999Mi hugepages-2Mi"},
        Row{"example.com/gpu", 10.25, "10.2 example.com/gpu"}})
    EXPECT_EQ(told_amount(row.resource, row.amount), row.told);
}

TEST(Quantities, WhatIsWrittenIsWhatIsReadAgain) {
  Usage usage{{{"cpu", 1}}, {{"cpu", 7}}, 0};
  for (std::int64_t at = 7; at < 7000; at += 7) {
    settle(usage, at, rates(3600, 10));
    ASSERT_EQ(quantity_of(quantity_text(usage.consumed["cpu"])), usage.consumed["cpu"]);
  }
}

}  // namespace
}  // namespace afs
