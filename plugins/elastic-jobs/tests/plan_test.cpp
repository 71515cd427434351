// What becomes of a job's slices, as a table: slices in, plan out.
#include "../plan.hpp"

#include <gtest/gtest.h>

namespace elastic {
namespace {

using Counts = std::vector<std::int32_t>;

/// A slice in a few letters: p(ending), r(eserved), a(dmitted), f(inished).
Slice slice(const std::string& name, char state, Counts counts, const std::string& replaces = "",
            Match match = Match::kCounts) {
  Slice out;
  out.name = name;
  out.uid = "uid-" + name;
  out.counts = std::move(counts);
  out.match = match;
  out.finished = state == 'f';
  out.reserving = state == 'r' || state == 'a';
  out.admitted = state == 'a';
  out.replaces = replaces;
  out.origin = replaces.empty() ? "" : "first";
  return out;
}

/// `speaks A, resizes A, creates 7 for A, ends B OutOfSync, removes C`
std::string text(const Plan& plan) {
  std::string out;
  const auto add = [&out](const std::string& part) {
    if (!out.empty()) out += ", ";
    out += part;
  };
  if (plan.recreate) add("starts over");
  if (!plan.speaker.empty()) add("speaks " + plan.speaker);
  if (!plan.resize.empty()) add("resizes " + plan.resize);
  if (plan.create)
    add("creates " + plan.create->revision +
        (plan.create->replaces.empty() ? "" : " for " + plan.create->replaces));
  for (const EndedSlice& each : plan.finish) add("ends " + each.name + " " + each.reason);
  for (const std::string& each : plan.remove) add("removes " + each);
  return out;
}

struct Case {
  const char* what;
  Counts wanted;
  std::vector<Slice> slices;
  const char* expected;

  friend void PrintTo(const Case& each, std::ostream* out) { *out << each.what; }
};

/// Sets what the host would say of each slice that has the sizes of the job.
JobSnapshot snapshot(const Case& c) {
  JobSnapshot job;
  job.uid = "job-uid";
  job.generation = 7;
  job.counts = c.wanted;
  job.slices = c.slices;
  for (Slice& each : job.slices)
    if (each.match == Match::kCounts && each.counts == c.wanted) each.match = Match::kSame;
  return job;
}

class Table : public ::testing::TestWithParam<Case> {};

TEST_P(Table, Row) { EXPECT_EQ(text(plan(snapshot(GetParam()), 5)), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    First, Table,
    ::testing::Values(
        Case{"it waits at the job's size", {3}, {slice("a", 'p', {3})}, "speaks a"},
        Case{"it waits, and the job grew", {5}, {slice("a", 'p', {3})}, "speaks a, resizes a"},
        Case{"it waits, and the job shrank", {1}, {slice("a", 'p', {3})}, "speaks a, resizes a"},
        Case{"admitted at the job's size", {3}, {slice("a", 'a', {3})}, "speaks a"}));

INSTANTIATE_TEST_SUITE_P(
    Resize, Table,
    ::testing::Values(
        Case{"down: in place", {2}, {slice("a", 'a', {3})}, "speaks a, resizes a"},
        Case{"down to nothing", {0}, {slice("a", 'a', {3})}, "speaks a, resizes a"},
        Case{"up: a further slice", {5}, {slice("a", 'a', {3})}, "speaks a, creates 7 for a"},
        Case{"up while only reserved", {5}, {slice("a", 'r', {3})}, "speaks a, creates 7 for a"},
        Case{"both at once: the one goes back now, the other waits",
             {1, 2, 9},
             {slice("a", 'a', {1, 4, 3})},
             "speaks a, resizes a, creates 7 for a"},
        Case{"both at once, the growth is there",
             {1, 2, 9},
             {slice("a", 'a', {1, 2, 3}), slice("b", 'p', {1, 2, 9}, "a")},
             "speaks a"}));

INSTANTIATE_TEST_SUITE_P(
    Growth, Table,
    ::testing::Values(
        Case{"it waits", {5}, {slice("a", 'a', {3}), slice("b", 'p', {5}, "a")}, "speaks a"},
        Case{"it waits for its checks",
             {5},
             {slice("a", 'a', {3}), slice("b", 'r', {5}, "a")},
             "speaks a"},
        Case{"a newer size",
             {6},
             {slice("a", 'a', {3}), slice("b", 'p', {5}, "a")},
             "speaks a, creates 7 for a, ends b OutOfSync"},
        Case{"a newer size while checks run",
             {6},
             {slice("a", 'a', {3}), slice("b", 'r', {5}, "a")},
             "speaks a, creates 7 for a, ends b OutOfSync"},
        Case{"back to the size that runs",
             {3},
             {slice("a", 'a', {3}), slice("b", 'p', {5}, "a")},
             "speaks a, ends b OutOfSync"},
        Case{"below the size that runs",
             {1},
             {slice("a", 'a', {3}), slice("b", 'r', {5}, "a")},
             "speaks a, resizes a, ends b OutOfSync"},
        Case{"down in one pod set, up in the other stays wanted",
             {1, 5},
             {slice("a", 'a', {2, 3}), slice("b", 'p', {2, 5}, "a")},
             "speaks a, resizes a, creates 7 for a, ends b OutOfSync"},
        Case{"admitted: it speaks, the old one is finished already",
             {5},
             {slice("a", 'f', {3}), slice("b", 'a', {5}, "a")},
             "speaks b"},
        Case{"admitted, the old one somehow is not finished",
             {5},
             {slice("a", 'p', {3}), slice("b", 'a', {5}, "a")},
             "speaks b, ends a WorkloadSliceReplaced"},
        Case{"grows again",
             {9},
             {slice("a", 'f', {3}), slice("b", 'a', {5}, "a")},
             "speaks b, creates 7 for b"},
        Case{"of somebody else: not ours",
             {5},
             {slice("a", 'a', {3}), slice("b", 'p', {5}, "x")},
             "speaks a, creates 7 for a, ends b OutOfSync"}));

INSTANTIATE_TEST_SUITE_P(Eviction, Table,
                         ::testing::Values(Case{"the job waits at its present size, once",
                                                {5},
                                                {slice("a", 'p', {3}), slice("b", 'p', {5}, "a")},
                                                "speaks a, resizes a, ends b OutOfSync"},
                                           Case{"also when the growth holds its reservation still",
                                                {5},
                                                {slice("a", 'p', {3}), slice("b", 'r', {5}, "a")},
                                                "speaks a, resizes a, ends b OutOfSync"},
                                           Case{"of the growth alone: nothing changes",
                                                {5},
                                                {slice("a", 'a', {3}), slice("b", 'p', {5}, "a")},
                                                "speaks a"},
                                           Case{"after several growths",
                                                {5},
                                                {slice("a", 'f', {3}), slice("b", 'p', {5}, "a")},
                                                "speaks b"}));

INSTANTIATE_TEST_SUITE_P(
    Other, Table,
    ::testing::Values(
        Case{"the pods changed", {3}, {slice("a", 'p', {3}, "", Match::kOther)}, "starts over"},
        Case{"a finished one may differ",
             {3},
             {slice("a", 'f', {3}, "", Match::kOther), slice("b", 'a', {3}, "a")},
             "speaks b"},
        Case{"all are finished, and the job runs", {3}, {slice("a", 'f', {3})}, "starts over"}));

TEST(Plan, AJobThatRunsWithoutASliceIsStoppedFirst) {
  JobSnapshot job;
  job.generation = 7;
  job.counts = {3};
  EXPECT_EQ(text(plan(job, 5)), "");
  job.suspended = true;
  EXPECT_EQ(text(plan(job, 5)), "creates 7");
}

TEST(Plan, WhatFailedToStartStaysUntilTheJobChanges) {
  JobSnapshot job;
  job.counts = {3};
  job.suspended = true;
  job.slices = {slice("a", 'f', {3}, "", Match::kSame)};
  EXPECT_EQ(text(plan(job, 5)), "speaks a");
  job.counts = {4};
  job.slices[0].match = Match::kCounts;
  EXPECT_EQ(text(plan(job, 5)), "starts over");
}

// The one that the job waited by was deleted: what is left ended for another reason than that the
// job failed to start, whatever its size.
TEST(Plan, WhatWasReplacedOrNeverNeededIsNoReasonToStayStopped) {
  JobSnapshot job;
  job.counts = {5};
  job.suspended = true;
  Slice growth = slice("b", 'f', {5}, "a", Match::kSame);
  growth.displaced = true;
  growth.revision = "2";
  job.slices = {growth};
  EXPECT_EQ(text(plan(job, 5)), "starts over");
  // Before it one failed to start: that stays.
  Slice failed = slice("a", 'f', {5}, "", Match::kSame);
  failed.revision = "1";
  job.slices = {failed, growth};
  EXPECT_EQ(text(plan(job, 5)), "speaks a");
}

TEST(Plan, AGrowthNamesItsPredecessorAndTheFirstOfTheChain) {
  JobSnapshot job;
  job.generation = 4;
  job.counts = {9};
  job.slices = {slice("first", 'a', {3})};
  EXPECT_EQ(plan(job, 5).create->origin, "first");
  job.slices = {slice("first", 'f', {3}), slice("second", 'a', {5}, "first")};
  EXPECT_EQ(plan(job, 5).create->replaces, "second");
  EXPECT_EQ(plan(job, 5).create->origin, "first");
}

TEST(Plan, ANameThatIsTakenGetsANumber) {
  JobSnapshot job;
  job.generation = 4;
  job.counts = {9};
  job.slices = {slice("a", 'a', {3}), slice("b", 'f', {9}, "a"), slice("c", 'f', {9}, "a")};
  job.slices[1].revision = "4";
  EXPECT_EQ(plan(job, 5).create->revision, "4.1");
  job.slices[2].revision = "4.1";
  EXPECT_EQ(plan(job, 5).create->revision, "4.2");
}

TEST(Plan, SlicesOfOneSecondAreOrderedByTheirRevision) {
  // The host lists them by time, and within a second by name: the growth comes first here.
  JobSnapshot job;
  job.generation = 12;
  job.counts = {9};
  job.slices = {slice("b", 'p', {9}, "c", Match::kSame), slice("c", 'a', {3})};
  job.slices[0].revision = "12";
  job.slices[1].revision = "9";
  EXPECT_EQ(text(plan(job, 5)), "speaks c");
  job.slices[1].admitted = job.slices[1].reserving = false;
  EXPECT_EQ(text(plan(job, 5)), "speaks c, resizes c, ends b OutOfSync");
}

TEST(Plan, TheHistoryIsBounded) {
  JobSnapshot job;
  job.counts = {3};
  for (const char* name : {"a", "b", "c", "d"}) job.slices.push_back(slice(name, 'f', {1}));
  job.slices.push_back(slice("e", 'a', {3}, "d", Match::kSame));
  EXPECT_EQ(text(plan(job, 5)), "speaks e");
  EXPECT_EQ(text(plan(job, 3)), "speaks e, removes a");
  EXPECT_EQ(text(plan(job, 0)), "speaks e, removes a, removes b, removes c, removes d");
}

TEST(Plan, SaysWhatTheProposalSays) {
  EXPECT_EQ(replaced_message("u", "j"),
            "Removed to accommodate a workload (UID: u, JobUID: j) due to workload slice "
            "aggregation");
  EXPECT_EQ(replaced_message("u", ""),
            "Removed to accommodate a workload (UID: u, JobUID: UNKNOWN) due to workload slice "
            "aggregation");
}

}  // namespace
}  // namespace elastic
