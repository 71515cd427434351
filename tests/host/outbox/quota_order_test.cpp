// Which edits wait for which: two trees, near with the queues n and m, far with f.
#include "host/outbox/quota_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct QuotaOrderTest : ::testing::Test {
  std::map<std::string, std::uint32_t, std::less<>> trees{{"n", 1}, {"m", 1}, {"f", 2}};
  std::uint64_t shape = 1;
  QuotaOrder order{{.of = [this](std::string_view queue) -> std::optional<std::uint32_t> {
                      const auto found = trees.find(queue);
                      return found == trees.end() ? std::nullopt : std::optional(found->second);
                    },
                    .shape = [this] { return shape; }}};
};

TEST_F(QuotaOrderTest, OneWaitsForEarlierEndsOfItsTree) {
  order.add_end(1, "n");
  order.add_end(4, "m");
  EXPECT_TRUE(order.waits(3, "m"));
  EXPECT_FALSE(order.waits(2, "f"));
  EXPECT_TRUE(order.waits(5, "n"));
  order.remove_end(1);
  EXPECT_THAT(order.take_freed(), ElementsAre(3));
  order.remove_end(4);
  EXPECT_THAT(order.take_freed(), ElementsAre(5));
}

// What ends and gives in one edit does not wait for itself.
TEST_F(QuotaOrderTest, OneDoesNotWaitForItsOwnEnd) {
  order.add_end(1, "n");
  EXPECT_FALSE(order.waits(1, "n"));
}

TEST_F(QuotaOrderTest, AQueueOfNoTreeCountsForAll) {
  order.add_end(1, "gone");
  EXPECT_TRUE(order.waits(2, "n"));
  EXPECT_TRUE(order.waits(3, "f"));
  order.remove_end(1);
  EXPECT_THAT(order.take_freed(), UnorderedElementsAre(2, 3));
  order.add_end(4, "f");
  EXPECT_TRUE(order.waits(5, "gone"));
  order.remove_end(4);
  EXPECT_THAT(order.take_freed(), ElementsAre(5));
}

TEST_F(QuotaOrderTest, WhoStopsWaitingIsNotFreed) {
  order.add_end(1, "n");
  EXPECT_TRUE(order.waits(2, "n"));
  order.stop_waiting(2);
  order.remove_end(1);
  EXPECT_THAT(order.take_freed(), ElementsAre());
}

// A queue leaves its cohort for another one: its ends count there from then on.
TEST_F(QuotaOrderTest, AnEndIsOfTheTreeThatItsQueueIsInNow) {
  order.add_end(1, "m");
  EXPECT_TRUE(order.waits(2, "n"));
  trees["m"] = 2;
  ++shape;
  EXPECT_THAT(order.take_freed(), ElementsAre(2));
  EXPECT_TRUE(order.waits(3, "f"));
}

}  // namespace
}  // namespace sluice::host
