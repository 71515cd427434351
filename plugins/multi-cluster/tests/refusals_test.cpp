// Since when a cluster refuses a job, and how long it is left alone then.
#include "../refusals.hpp"

#include <gtest/gtest.h>

namespace clusters {
namespace {

TEST(Refusals, CountFromTheFirstUntilTheJobIsTaken) {
  Refusals refusals(1000);
  EXPECT_EQ(refusals.refused_for("u", "a", 5), 0);
  refusals.refused("u", "a", 100);
  refusals.refused("u", "a", 400);  // tried again in between
  EXPECT_EQ(refusals.refused_for("u", "a", 600), 500);
  EXPECT_EQ(refusals.refused_for("u", "b", 600), 0);
  EXPECT_EQ(refusals.refused_for("v", "a", 600), 0);
  refusals.taken("u", "a");
  EXPECT_EQ(refusals.refused_for("u", "a", 600), 0);
}

TEST(Refusals, WhoRefusedForTooLongIsLeftAloneForAsLong) {
  Refusals refusals(1000);
  refusals.refused("u", "a", 0);
  refusals.refused("u", "b", 700);
  refusals.refused("v", "a", 0);
  refusals.end("u", 1200);
  EXPECT_TRUE(refusals.is_left_alone("u", "a", 2199));
  EXPECT_FALSE(refusals.is_left_alone("u", "a", 2200));
  EXPECT_FALSE(refusals.is_left_alone("u", "b", 1201)) << "it refused for 500 ms";
  EXPECT_FALSE(refusals.is_left_alone("v", "a", 1201)) << "its attempt goes on";
  EXPECT_EQ(refusals.refused_for("u", "a", 1300), 0) << "the next attempt counts anew";
}

}  // namespace
}  // namespace clusters
