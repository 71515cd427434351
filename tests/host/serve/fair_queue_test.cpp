// Users whose requests wait for the thread that writes take turns.
#include "host/base/fair_queue.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::host {
namespace {

std::vector<int> all_of(FairQueue<int>& queue) {
  std::vector<int> out;
  while (const auto item = queue.pop()) out.push_back(*item);
  return out;
}

TEST(FairQueue, UsersTakeTurnsAndKeepTheirOwnOrder) {
  FairQueue<int> queue;
  for (int i = 0; i < 1000; ++i) queue.push("mallory", i);
  queue.push("alice", 2000);
  queue.push("alice", 2001);
  queue.push("bob", 3000);
  EXPECT_EQ(queue.size(), 1003U);
  EXPECT_EQ(*queue.next(), "mallory");
  const std::vector<int> order = all_of(queue);
  EXPECT_EQ((std::vector<int>(order.begin(), order.begin() + 7)),
            (std::vector<int>{0, 2000, 3000, 1, 2001, 2, 3}));
  EXPECT_EQ(order.back(), 999);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next(), nullptr);
}

// A request that comes while others wait is next after one of each user, however often that
// happens.
TEST(FairQueue, WhoComesLateWaitsForOneOfEach) {
  FairQueue<int> queue;
  for (int i = 0; i < 10; ++i) queue.push("mallory", i);
  EXPECT_EQ(queue.pop(), 0);
  for (int round = 0; round < 3; ++round) {
    queue.push("alice", 100 + round);
    EXPECT_EQ(queue.pop(), 1 + round);
    EXPECT_EQ(queue.pop(), 100 + round);
  }
  EXPECT_EQ(all_of(queue), (std::vector<int>{4, 5, 6, 7, 8, 9}));
}

// A full queue makes room at the cost of whoever has most, and of his latest item.
TEST(FairQueue, WhoHasMostMakesRoom) {
  FairQueue<int> queue;
  for (int i = 0; i < 5; ++i) queue.push("", i);
  for (int i = 10; i < 13; ++i) queue.push("mallory", i);
  queue.push("alice", 20);
  EXPECT_EQ(queue.size_of("mallory"), 3U);
  EXPECT_EQ(queue.size_of("bob"), 0U);
  EXPECT_EQ(queue.shed(1, ""), 12);  // bob would have one
  EXPECT_EQ(queue.shed(1, ""), 11);
  EXPECT_EQ(queue.shed(1, ""), std::nullopt);  // nobody has more than one
  EXPECT_EQ(queue.shed(0, ""), 10);
  EXPECT_EQ(queue.size_of("mallory"), 0U);
  EXPECT_EQ(all_of(queue), (std::vector<int>{0, 20, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace sluice::host
