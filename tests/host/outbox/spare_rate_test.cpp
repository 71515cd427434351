// What is left for requests that nobody decides on.
#include "host/outbox/spare_rate.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

using For = SpareRate::For;

struct SpareRateTest : ::testing::Test {
  int taken(For sort, int most = 1000) {
    int out = 0;
    while (out < most && rate.take(sort, now)) ++out;
    return out;
  }

  SpareRate rate{{.shared = 100, .queues = 5, .texts = 10, .events = 0.5}};
  Duration now = 1000 * kSecond;
};

TEST_F(SpareRateTest, WithoutDecisionsAllShareTheWhole) {
  EXPECT_EQ(taken(For::kTexts), 110);
  EXPECT_EQ(taken(For::kQueues), 5);
  EXPECT_EQ(taken(For::kEvents), 1);
  now += 1 * kSecond;
  EXPECT_EQ(taken(For::kQueues), 105);
}

TEST_F(SpareRateTest, DecisionsTakeTheirsFirst) {
  for (int i = 0; i < 80; ++i) rate.decided(now);
  EXPECT_EQ(taken(For::kTexts), 10 + 20);
}

TEST_F(SpareRateTest, HoweverMuchIsDecidedEachSortHasSome) {
  for (int i = 0; i < 1000; ++i) rate.decided(now);
  EXPECT_EQ(taken(For::kTexts), 10);
  EXPECT_EQ(taken(For::kQueues), 5);
  EXPECT_EQ(taken(For::kEvents), 1);
  // And no debt is left.
  now += kSecond / 10;
  EXPECT_EQ(taken(For::kTexts), 1 + 10);
}

TEST_F(SpareRateTest, WhileAnswersAreSlowNothingIsShared) {
  const auto answers = [this](Duration took) {
    for (int i = 0; i < 50; ++i) rate.answered(now, took);
  };
  answers(30 * kMillisecond);
  EXPECT_EQ(taken(For::kTexts), 110);
  now += 1 * kSecond;
  answers(100 * kMillisecond);
  EXPECT_EQ(taken(For::kTexts), 10);
  // A server that answers seldom leaves nothing between two answers.
  now += 1 * kSecond;
  EXPECT_EQ(taken(For::kTexts), 10);
  EXPECT_LE(rate.next(For::kTexts), now + 101 * kMillisecond);  // by its own rate of 10
  now += 1 * kSecond;
  answers(10 * kMillisecond);  // the time until now is not made up for
  EXPECT_EQ(taken(For::kTexts), 10);
  now += 1 * kSecond;
  EXPECT_EQ(taken(For::kTexts), 110);
}

TEST_F(SpareRateTest, SlowAnswersAreForgottenWhenNoneComesAnyMore) {
  for (int i = 0; i < 50; ++i) rate.answered(now, 100 * kMillisecond);
  taken(For::kEvents);  // its own; the next one comes in 2 s
  now += kSecond;
  EXPECT_EQ(taken(For::kEvents), 0);
  now = rate.next(For::kEvents);
  EXPECT_EQ(taken(For::kEvents), 1);
  now += 4 * kSecond;  // more than 5 s after the last answer
  EXPECT_EQ(taken(For::kTexts), 10 + 100);
}

TEST_F(SpareRateTest, OneSlowAnswerSaysLittle) {
  rate.answered(now, 300 * kMillisecond);
  EXPECT_EQ(taken(For::kTexts), 110);
}

TEST_F(SpareRateTest, NothingIsSavedUp) {
  taken(For::kTexts);
  now += 3600 * kSecond;
  EXPECT_EQ(taken(For::kTexts), 110);
}

TEST_F(SpareRateTest, ItSaysWhenToAskAgain) {
  taken(For::kEvents);
  taken(For::kTexts);
  EXPECT_FALSE(rate.take(For::kEvents, now));
  const Duration next = rate.next(For::kEvents);
  EXPECT_GT(next, now);
  EXPECT_LE(next, now + 11 * kMillisecond);
  now = next;
  EXPECT_TRUE(rate.take(For::kEvents, now));
}

TEST(SpareRate, WithoutAnyRateNothingIsEverSent) {
  SpareRate none({.shared = 0, .queues = 0, .texts = 0, .events = 0});
  EXPECT_FALSE(none.take(For::kEvents, 1000 * kSecond));
  EXPECT_EQ(none.next(For::kEvents), kNever);
}

}  // namespace
}  // namespace sluice::host
