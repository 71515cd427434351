#include "host/history/sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace sluice::host::test {
namespace {

constexpr NameId kCpu = 1, kGpu = 2, kSpot = 3, kFirm = 4, kAnn = 5, kBob = 6;
constexpr Millis kHour = 3'600'000;
constexpr Millis kDay = 24 * kHour;

/// Queued at hour 0, started at hour 1, ended at hour 3, with 4 cpu of spot.
RunRow run() {
  RunRow out;
  out.user = kAnn;
  out.reserved = out.admitted = out.since = kHour;
  out.ended = 3 * kHour;
  out.outcome = Outcome::kFinished;
  out.holds = {{kSpot, kCpu, 4'000, 4'000, 0}};
  out.used = {2, 2 * 3'600'000'000, 100};  // two hours of one processor
  return out;
}

double hours_of(const Sum& sum, NameId resource = kCpu) {
  for (const ResourceSum& each : sum.held)
    if (each.resource == resource) return each.amount_ms / static_cast<double>(kHour);
  return 0;
}

Sum sum_of(const HistoryQuery& query, const std::vector<RunRow>& rows, Millis now = 10 * kHour) {
  Sums sums(query, {}, kCpu, now);
  for (const RunRow& row : rows) sums.add(row);
  return sums.total();
}

TEST(Sums, ARunCountsWithAllOfIt) {
  const Sum sum = sum_of({}, {run()});
  EXPECT_EQ(sum.started, 1);
  EXPECT_EQ(sum.ended[static_cast<std::size_t>(Outcome::kFinished)], 1);
  EXPECT_EQ(sum.wait_ms, kHour);
  EXPECT_DOUBLE_EQ(sum.run_ms, 2.0 * kHour);
  EXPECT_DOUBLE_EQ(hours_of(sum), 4'000 * 2);  // milli cpu × hours
  EXPECT_DOUBLE_EQ(sum.cpu_us, 7.2e9);
  EXPECT_DOUBLE_EQ(sum.cpu_milli_ms_known, 4'000.0 * 2 * kHour);
  EXPECT_EQ(sum.memory_peak, 100);
}

// The window holds the second of the two hours in which it ran.
TEST(Sums, AWindowCountsWhatLiesInIt) {
  HistoryQuery query;
  query.from = 2 * kHour;
  query.to = 3 * kHour;
  const Sum sum = sum_of(query, {run()});
  EXPECT_EQ(sum.started, 0);
  EXPECT_EQ(sum.wait_ms, 0);
  EXPECT_EQ(sum.ended[static_cast<std::size_t>(Outcome::kFinished)], 0) << "`to` is not in it";
  EXPECT_DOUBLE_EQ(hours_of(sum), 4'000);
  EXPECT_DOUBLE_EQ(sum.cpu_us, 3.6e9);
  query.from = 4 * kHour;
  query.to = 5 * kHour;
  EXPECT_DOUBLE_EQ(hours_of(sum_of(query, {run()})), 0);
}

TEST(Sums, WhatGoesOnHasLastedUntilNow) {
  RunRow row = run();
  row.ended = 0;
  row.outcome = Outcome::kGoesOn;
  row.used = {};
  const Sum sum = sum_of({}, {row}, 6 * kHour);
  EXPECT_EQ(sum.running, 1);
  EXPECT_DOUBLE_EQ(hours_of(sum), 4'000 * 5);
  EXPECT_DOUBLE_EQ(sum.cpu_milli_ms_known, 0) << "of what it uses nothing is known yet";
}

// 4 cpu for an hour, then 1 cpu for an hour.
TEST(Sums, WhatWasGivenBackIsNotCounted) {
  RunRow row = run();
  row.holds = {{kSpot, kCpu, 4'000, 1'000, 4'000 * kHour}};
  row.since = 2 * kHour;
  EXPECT_DOUBLE_EQ(hours_of(sum_of({}, {row})), 5'000);
}

TEST(Sums, TheSumsOfTheDaysAreTheSumOfAll) {
  HistoryQuery query;
  query.sums = true;
  query.by = {GroupBy::kDay};
  std::vector<RunRow> rows;
  for (int i = 0; i < 50; ++i) {
    RunRow row = run();
    row.queued = i * 3 * kHour;
    row.reserved = row.since = row.queued + kHour / 3;
    row.admitted = row.reserved + kHour / 7;
    row.ended = row.admitted + (i % 5) * 11 * kHour;  // over none to two midnights
    rows.push_back(row);
  }
  Sums sums(query, {}, kCpu, 100 * kDay);
  for (const RunRow& row : rows) sums.add(row);
  Sum days;
  for (const auto& [key, sum] : sums.groups()) {
    EXPECT_EQ(key.first[0] % kDay, 0);
    days.add(sum);
  }
  const Sum all = sum_of({}, rows, 100 * kDay);
  EXPECT_EQ(days.started, 50);
  EXPECT_EQ(days.wait_ms, all.wait_ms);
  EXPECT_NEAR(hours_of(days), hours_of(all), 1e-6);
  EXPECT_NEAR(days.run_ms, all.run_ms, 1e-3);
  EXPECT_NEAR(days.cpu_us, all.cpu_us, 1);
}

// From 1:00 to 3:00; of the window from 0:55 to 1:25 it has 25 minutes.
TEST(Sums, TensOfMinutesHoldTheirShareOfARun) {
  HistoryQuery query;
  query.by = {GroupBy::kTenMinutes};
  query.from = kHour - kHour / 12;
  query.to = query.from + kHour / 2;
  Sums sums(query, {}, kCpu, 10 * kHour);
  sums.add(run());
  std::map<Millis, double> cpu_hours;
  for (const auto& [key, sum] : sums.groups()) cpu_hours[key.first[0]] = hours_of(sum) / 1'000;
  const Millis ten = kHour / 6;
  ASSERT_EQ(cpu_hours.size(), 3U);
  EXPECT_NEAR(cpu_hours[kHour], 4.0 / 6, 1e-9);
  EXPECT_NEAR(cpu_hours[kHour + ten], 4.0 / 6, 1e-9);
  EXPECT_NEAR(cpu_hours[kHour + 2 * ten], 2.0 / 6, 1e-9) << "the window ends within it";
  EXPECT_EQ(sums.work(), 4U) << "the run, and three stretches: what a deadline looks at";
}

// 2 of 3 cpu are of spot, and so are two thirds of what was used.
TEST(Sums, AFlavorCountsWhatWasHeldOfIt) {
  RunRow row = run();
  row.holds = {
      {kSpot, kCpu, 2'000, 2'000, 0}, {kSpot, kGpu, 1, 1, 0}, {kFirm, kCpu, 1'000, 1'000, 0}};
  row.used.cpu_us = 9'000'000;
  HistoryQuery query;
  query.sums = true;
  query.by = {GroupBy::kFlavor};
  Sums sums(query, {}, kCpu, 10 * kHour);
  sums.add(row);
  std::map<NameId, Sum> by;
  for (const auto& [key, sum] : sums.groups()) by[key.first[0]] = sum;
  ASSERT_EQ(by.size(), 2U);
  EXPECT_DOUBLE_EQ(hours_of(by[kSpot]), 4'000);
  EXPECT_DOUBLE_EQ(hours_of(by[kSpot], kGpu), 2);
  EXPECT_DOUBLE_EQ(hours_of(by[kFirm]), 2'000);
  EXPECT_NEAR(by[kSpot].cpu_us, 6'000'000, 1e-3);
  EXPECT_NEAR(by[kFirm].cpu_us, 3'000'000, 1e-3);
  EXPECT_EQ(sums.total().started, 1) << "one run, whatever it held";
}

TEST(Sums, AFilterLetsOthersOut) {
  RunRow other = run();
  other.user = kBob;
  RowFilter filter;
  filter.user = kBob;
  Sums sums({}, filter, kCpu, 10 * kHour);
  sums.add(run());
  sums.add(other);
  EXPECT_EQ(sums.total().started, 1);
}

}  // namespace
}  // namespace sluice::host::test
