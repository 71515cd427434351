// How often plugins may have one workload looked at again.
#include "host/kernel/request_pace.hpp"

#include <gmock/gmock.h>

#include "core/base/time.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration kTenth = kSecond / 10;

TEST(RequestPace, FiftyAtOnceAndTenASecond) {
  RequestPace pace;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(pace.may("a", 0)) << i;
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(pace.may("a", 0)) << i;
  EXPECT_TRUE(pace.may("b", 0)) << "another one has its own";
  EXPECT_EQ(pace.next(), kTenth);
  EXPECT_THAT(pace.take_due(kTenth - 1), IsEmpty());
  EXPECT_THAT(pace.take_due(kTenth), ElementsAre("a")) << "once, however often it was asked for";
  EXPECT_EQ(pace.next(), kNever);
  EXPECT_TRUE(pace.may("a", kTenth)) << "0.1 s at 10 a second";
  EXPECT_FALSE(pace.may("a", kTenth));
}

TEST(RequestPace, AfterFiveSecondsItIsAsIfNothingHadBeen) {
  RequestPace pace;
  for (int i = 0; i < 51; ++i) pace.may("a", 0);
  pace.take_due(5 * kSecond);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(pace.may("a", 5 * kSecond)) << i;
  EXPECT_FALSE(pace.may("a", 5 * kSecond));
}

}  // namespace
}  // namespace sluice::host
