// How many lines a plugin may cause in the log: 200 of a level in ten seconds.
#include "host/base/line_budget.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

constexpr std::uint32_t kLines = LineBudget::kLines;
constexpr std::int64_t kWindowMs = LineBudget::kWindowMs;

TEST(LineBudget, WritesSoManyLinesOfAWindowAndSaysWhichIsTheLast) {
  LineBudget budget;
  std::uint32_t written = 0, last = 0;
  for (std::uint32_t i = 0; i < 3 * kLines; ++i) {
    const LineBudget::Answer answer = budget.take("plugin a", kWindowMs - 1);
    EXPECT_EQ(answer.left_out, 0U);
    written += answer.write ? 1 : 0;
    if (answer.last) last = i + 1;
  }
  EXPECT_EQ(written, kLines);
  EXPECT_EQ(last, kLines);
}

TEST(LineBudget, TellsInTheNextWindowWhatWasLeftOut) {
  LineBudget budget;
  for (std::uint32_t i = 0; i < kLines + 7; ++i) budget.take("plugin a", 5);
  // A window begins with its first line: 5 + 10,000 is the first moment after it.
  EXPECT_FALSE(budget.take("plugin a", 5 + kWindowMs - 1).write);  // the eighth
  const LineBudget::Answer next = budget.take("plugin a", 5 + kWindowMs);
  EXPECT_TRUE(next.write);
  EXPECT_EQ(next.left_out, 8U);
  EXPECT_EQ(budget.take("plugin a", 5 + kWindowMs).left_out, 0U) << "told once";
}

TEST(LineBudget, OneSourceDoesNotCostAnotherItsLines) {
  LineBudget budget;
  for (std::uint32_t i = 0; i <= kLines; ++i) budget.take("plugin loud", 0);
  EXPECT_FALSE(budget.take("plugin loud", 0).write);
  EXPECT_TRUE(budget.take("plugin quiet", 0).write);
}

}  // namespace
}  // namespace sluice::host
