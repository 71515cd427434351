// How many pods are made at once, of which size, and how many may wait.
#include "host/executor/jobs/pod_pace.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

constexpr std::size_t kMiB = 1U << 20;

TEST(PodPace, OfOneJobSoManyAtATime) {
  const struct {
    const char* what;
    PodPace::Wish wish;
    std::size_t pods;
    bool more_soon, too_large;
  } rows[] = {
      {"all", {.pods = 9}, 9, false, false},
      {"an instant's", {.pods = 900}, 250, true, false},
      {"an instant's bytes: 4 of 1 MiB", {.pods = 9, .bytes = kMiB}, 4, true, false},
      {"one, whatever its size", {.pods = 9, .bytes = 70 * kMiB}, 1, false, true},
      {"100 behind a gate", {.pods = 9, .gets_gate = true, .gated = 95}, 5, false, false},
      {"1,000 wait for a node", {.pods = 9, .unplaced = 998}, 2, false, false},
      {"and more do already", {.pods = 9, .unplaced = 2'000'000}, 0, false, false},
      {"64 MiB in all", {.pods = 9, .there = 62, .bytes = kMiB}, 2, false, true},
      {"which are there", {.pods = 9, .there = 64, .bytes = kMiB}, 0, false, true},
  };
  for (const auto& row : rows) {
    PodPace pace;
    const PodPace::Allowed allowed = pace.allow(row.wish, 1);
    EXPECT_EQ(allowed.pods, row.pods) << row.what;
    EXPECT_EQ(allowed.more_soon, row.more_soon) << row.what;
    EXPECT_EQ(allowed.too_large, row.too_large) << row.what;
  }
}

TEST(PodPace, AnInstantIsSharedByAllJobs) {
  PodPace pace;
  EXPECT_EQ(pace.allow({.pods = 200}, 1).pods, 200U);
  EXPECT_EQ(pace.allow({.pods = 200}, 1).pods, 50U);
  EXPECT_EQ(pace.allow({.pods = 3, .bytes = 2 * kMiB}, 2).pods, 2U);
  EXPECT_EQ(pace.allow({.pods = 1, .bytes = 2 * kMiB}, 2).pods, 0U) << "4 MiB are made";
  EXPECT_EQ(pace.allow({.pods = 1, .bytes = 2 * kMiB}, 3).pods, 1U) << "the next instant";
}

}  // namespace
}  // namespace sluice::host
