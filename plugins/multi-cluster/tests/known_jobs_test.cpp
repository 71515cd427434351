// What is remembered of workloads that are gone does not grow with the number of those that were,
// and which workloads a job has is known from when they were looked up.
#include "../known_jobs.hpp"

#include <gtest/gtest.h>

#include <set>

namespace clusters {
namespace {

TEST(KnownJobs, OfWhatCameAndWentNoMoreIsKeptThanOfWhatIsNeeded) {
  std::set<WorkloadName> needed{{"team", "stays"}};
  const auto is_needed = [&](const WorkloadName& each, const KnownJob&) {
    return needed.contains(each);
  };
  KnownJobs jobs;
  jobs.remember({"team", "stays"}, {"j", "uid-j"}, is_needed);
  std::size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    jobs.remember({"team", "w" + std::to_string(i)}, {"j", "uid-j"}, is_needed);
    most = std::max(most, jobs.size());
  }
  EXPECT_LE(most, KnownJobs::kFew);
  ASSERT_NE(jobs.find({"team", "stays"}), nullptr);
  EXPECT_EQ(jobs.find({"team", "stays"})->uid, "uid-j");
}

TEST(KnownJobs, AllThatAreNeededAreKept) {
  KnownJobs jobs;
  for (int i = 0; i < 1'000; ++i)
    jobs.remember({"team", "w" + std::to_string(i)}, {"j", "uid"},
                  [](const auto&, const auto&) { return true; });
  EXPECT_EQ(jobs.size(), 1'000U);
}

TEST(KnownJobs, TheWorkloadsOfAJobAreThoseThatWereLookedUpAndLaterOnes) {
  const auto all = [](const auto&, const auto&) { return true; };
  KnownJobs jobs;
  jobs.remember({"team", "w1"}, {"j", "uid-j"}, all);
  EXPECT_EQ(jobs.workloads_of("team", "uid-j"), nullptr) << "w0 may be there, too";
  jobs.looked_up("team", "uid-j", {"w0", "w1"});
  jobs.remember({"team", "w2"}, {"j", "uid-j"}, all);
  jobs.remember({"team", "v"}, {"i", "uid-i"}, all);
  jobs.remember({"other", "w3"}, {"j", "uid-j"}, all);
  ASSERT_NE(jobs.workloads_of("team", "uid-j"), nullptr);
  EXPECT_EQ(*jobs.workloads_of("team", "uid-j"), (std::set<std::string>{"w0", "w1", "w2"}));
  jobs.looked_up("team", "uid-gone", {});
  EXPECT_EQ(jobs.workloads_of("team", "uid-gone"), nullptr);
}

TEST(KnownJobs, WhichWorkloadsAJobHasIsLookedUpAgainNowAndThen) {
  const auto none = [](const auto&, const auto&) { return false; };
  KnownJobs jobs;
  jobs.looked_up("team", "uid-j", {"w"});
  for (std::size_t i = 0; i < KnownJobs::kFew; ++i)
    jobs.remember({"team", "w" + std::to_string(i)}, {"j", "uid-j"}, none);
  EXPECT_EQ(jobs.workloads_of("team", "uid-j"), nullptr);
}

}  // namespace
}  // namespace clusters
