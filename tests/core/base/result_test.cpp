#include "core/base/result.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

namespace sluice {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{"7 is odd"};
  return n / 2;
}

TEST(Result, HoldsTheValueOrTheError) {
  EXPECT_EQ(half(8).value(), 4);
  ASSERT_FALSE(half(7).ok());
  EXPECT_EQ(half(7).error().text, "7 is odd");
}

TEST(Result, ContextPutsTheOuterPlaceInFront) {
  EXPECT_EQ(half(7).error().context("line 3").context("a.yaml").text, "a.yaml: line 3: 7 is odd");
}

TEST(Result, GivesAwayValuesThatOnlyMove) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, OfVoidIsSuccessUnlessItHoldsAnError) {
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_FALSE(Result<void>(Error{"no"}).ok());
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorStopsTheProcess) {
  EXPECT_EXIT(half(7).value(), ::testing::KilledBySignal(SIGABRT), "7 is odd");
}

}  // namespace
}  // namespace sluice
