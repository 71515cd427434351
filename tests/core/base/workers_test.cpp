#include "core/base/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

TEST(Workers, RunsEachPieceOnceForAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 8}) {
    Workers workers(threads);
    for (const std::size_t n : {0U, 1U, 2U, 1000U}) {
      std::vector<int> runs(n, 0);
      workers.run(n, [&](std::size_t i) { ++runs[i]; });
      EXPECT_EQ(runs, std::vector<int>(n, 1)) << threads << " threads";
    }
  }
}

TEST(Workers, SeesWhatWasWrittenBeforeAndShowsWhatThePiecesWrote) {
  Workers workers(8);
  std::vector<std::vector<int>> rows(64);
  int sum = 0;
  for (int round = 1; round <= 50; ++round) {
    for (auto& row : rows) row.assign(1, round);
    workers.run(rows.size(), [&](std::size_t i) { rows[i].push_back(rows[i][0] * 2); });
    for (const auto& row : rows) sum += row.back();
  }
  EXPECT_EQ(sum, 64 * 2 * (50 * 51 / 2));
}

TEST(Workers, RunsNoMoreAtOnceThanItWasToldTo) {
  Workers workers(2);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  workers.run(200, [&](std::size_t) {
    const int now = ++running;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    --running;
  });
  EXPECT_LE(most.load(), 2);
}

}  // namespace
}  // namespace sluice
