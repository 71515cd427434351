// Which one each of many waits for.
#include "host/controllers/jobs/waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sluice::host {
namespace {

using ::testing::ElementsAre;

TEST(Waits, EachWaitsForOneAtATime) {
  Waits<int, std::string> waits;
  waits.set(1, "a");
  waits.set(2, "a");
  EXPECT_THAT(waits.of("a"), ElementsAre(1, 2));
  waits.set(1, "b");
  EXPECT_THAT(waits.of("a"), ElementsAre(2));
  EXPECT_THAT(waits.of("b"), ElementsAre(1));
  waits.erase(1);
  EXPECT_FALSE(waits.has(1));
  EXPECT_TRUE(waits.has(2));
  EXPECT_THAT(waits.of("b"), ElementsAre());
  waits.erase(3);  // it never waited
  EXPECT_THAT(waits.of("a"), ElementsAre(2));
}

}  // namespace
}  // namespace sluice::host
