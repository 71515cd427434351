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

TEST(Refusals, WhatTheyTellIsWhatTheyAreRestoredFrom) {
  constexpr std::int64_t kStart = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
  Refusals refusals(60'000);
  EXPECT_EQ(refusals.told("u", kStart), "");
  refusals.refused("u", "a", kStart);
  refusals.end("u", kStart + 60'000);
  refusals.refused("u", "b", kStart + 61'000);
  refusals.refused("v", "c", kStart);
  const std::string told = refusals.told("u", kStart + 62'000);
  EXPECT_EQ(told,
            "b refuses the job since 2026-01-01T00:01:01Z, "
            "a is left alone until 2026-01-01T00:02:00Z");
  Refusals anew(60'000);
  anew.restore("u", told);
  EXPECT_EQ(anew.told("u", kStart + 62'000), told);
  EXPECT_EQ(anew.refused_for("u", "b", kStart + 62'000), 1'000);
  EXPECT_TRUE(anew.is_left_alone("u", "a", kStart + 119'000));
  EXPECT_FALSE(anew.is_left_alone("u", "a", kStart + 120'000));
  EXPECT_EQ(anew.told("u", kStart + 120'000), "b refuses the job since 2026-01-01T00:01:01Z");
}

TEST(Refusals, WordsThatTheyDoNotSayRestoreNothing) {
  for (const char* words : {"", ", ", "all is well", "a refuses the job since yesterday",
                            "a is left alone until ", " since 2026-01-01T00:00:00Z"}) {
    Refusals refusals(60'000);
    refusals.restore("u", words);
    EXPECT_EQ(refusals.told("u", 0), "") << words;
  }
}

}  // namespace
}  // namespace clusters
