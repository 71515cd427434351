// Which workloads evicted which lately (semantics 8): earmarks after the third time, no way back.
#include "core/model/eviction_history.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr WorkloadId kA = 1, kB = 2, kC = 3;

struct History : ::testing::Test {
  EvictionHistory history;
  History() { history.set_window(300 * kSecond); }
  void evict(WorkloadId preemptor, WorkloadId victim, Time seconds) {
    history.evicted(preemptor, victim, seconds * kSecond);
  }
  bool blocked(WorkloadId preemptor, WorkloadId victim, Time seconds) const {
    return history.blocked(preemptor, victim, seconds * kSecond);
  }
};

TEST_F(History, PreemptionsAreCountedWithinTheWindow) {
  EXPECT_EQ(history.issued(kA, 0), 1);
  EXPECT_EQ(history.issued(kA, 100 * kSecond), 2);
  EXPECT_EQ(history.issued(kA, 300 * kSecond), 3);
  EXPECT_EQ(history.issued(kA, 301 * kSecond), 3);  // the first has passed
  EXPECT_EQ(history.issued(kB, 301 * kSecond), 1);
}

TEST_F(History, NoWayBackNeedsTwoEvictionsOneWayAndOneTheOther) {
  evict(kA, kB, 0);
  evict(kA, kB, 1);
  EXPECT_FALSE(blocked(kA, kB, 2));  // kB never evicted kA
  evict(kB, kA, 2);
  EXPECT_TRUE(blocked(kA, kB, 3));
  EXPECT_FALSE(blocked(kB, kA, 3));  // once only
}

TEST_F(History, TheWayBackMayLeadThroughOthers) {
  evict(kA, kB, 0);
  evict(kA, kB, 0);
  evict(kC, kA, 0);
  EXPECT_FALSE(blocked(kA, kB, 0));
  evict(kB, kC, 0);  // kB → kC → kA
  EXPECT_TRUE(blocked(kA, kB, 0));
}

TEST_F(History, FiveEvictionsOfOneAreEnoughWhyeverItComesBack) {
  for (int i = 0; i < 4; ++i) evict(kA, kB, 0);
  EXPECT_FALSE(blocked(kA, kB, 0));
  evict(kA, kB, 0);
  EXPECT_TRUE(blocked(kA, kB, 0));
}

TEST_F(History, APairIsForgottenWhenTheWindowPassesWithoutARepeat) {
  evict(kA, kB, 0);
  evict(kA, kB, 0);
  evict(kB, kA, 0);
  EXPECT_TRUE(blocked(kA, kB, 300));
  EXPECT_FALSE(blocked(kA, kB, 301));
  evict(kA, kB, 400);
  evict(kB, kA, 400);
  EXPECT_FALSE(blocked(kA, kB, 400));  // counted from one again
}

TEST_F(History, WhatConcernsOneThatEndedIsForgotten) {
  evict(kA, kB, 0);
  evict(kA, kB, 0);
  evict(kB, kA, 0);
  history.forget(kB);
  EXPECT_FALSE(blocked(kA, kB, 0));
  evict(kA, kB, 0);
  evict(kB, kA, 0);
  EXPECT_FALSE(blocked(kA, kB, 0));
  history.issued(kA, 0);
  history.forget(kA);
  EXPECT_EQ(history.issued(kA, 0), 1);
}

}  // namespace
}  // namespace sluice
