// How long to wait before another try.
#include "core/base/backoff.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Backoff, DoublesUpToTheLongest) {
  const struct {
    int failures;
    Duration wait;
  } rows[] = {{-1, kSecond},     {0, kSecond},      {1, 2 * kSecond},         {5, 32 * kSecond},
              {6, 60 * kSecond}, {7, 60 * kSecond}, {1'000'000, 60 * kSecond}};
  for (const auto& row : rows)
    EXPECT_EQ(backoff(kSecond, row.failures, 60 * kSecond), row.wait) << row.failures;
  EXPECT_EQ(backoff(5, 0, 3), 3) << "never longer than the longest";
}

}  // namespace
}  // namespace sluice
