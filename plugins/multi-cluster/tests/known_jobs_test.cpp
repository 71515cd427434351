// What is remembered of workloads that are gone does not grow with the number of those that were.
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

}  // namespace
}  // namespace clusters
