// What an I/O thread has in hand of each user, with a total of 12: 12 for one, 6 for each of two,
// and never less than 4.
#include "host/apiserver/shares.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

constexpr std::size_t kTotal = 12;

struct SharesTest : ::testing::Test {
  Shares<int> shares{kTotal};

  void begin(const std::string& user, int requests) {
    for (int i = 0; i < requests; ++i) shares.begin(user);
  }
  std::string next(const std::string& user) {
    const auto who = shares.next(user);
    return who ? std::to_string(*who) : "none";
  }
};

TEST_F(SharesTest, AloneOneHasTheWhole) {
  begin("a", kTotal - 1);
  EXPECT_FALSE(shares.full("a"));
  begin("a", 1);
  EXPECT_TRUE(shares.full("a"));
}

TEST_F(SharesTest, WhoAskedLatelyHasAShare) {
  begin("a", 6);
  EXPECT_FALSE(shares.full("a"));
  begin("b", 1);  // 12 / 2
  EXPECT_TRUE(shares.full("a"));
  EXPECT_FALSE(shares.full("b"));
  shares.end("b");
  EXPECT_TRUE(shares.forget());
  EXPECT_TRUE(shares.full("a"));
  EXPECT_TRUE(shares.forget());  // b did not ask again in between
  EXPECT_FALSE(shares.full("a"));
}

TEST_F(SharesTest, NobodyHasLessThanTheLeast) {
  for (const char* user : {"b", "c", "d", "e", "f"}) begin(user, 1);
  begin("a", Shares<int>::kLeast - 1);  // 12 / 6 = 2
  EXPECT_FALSE(shares.full("a"));
  begin("a", 1);
  EXPECT_TRUE(shares.full("a"));
}

TEST_F(SharesTest, WhoWaitsGoesOnInOrderAsFarAsThereIsRoom) {
  begin("a", kTotal);
  for (int i = 1; i <= 3; ++i) shares.wait("a", i);
  EXPECT_EQ(next("a"), "none");
  shares.end("a");
  EXPECT_EQ(next("a"), "1");
  EXPECT_EQ(next("a"), "2");  // the first had nothing to say: there is room still
  begin("a", 1);
  EXPECT_EQ(next("a"), "none");
  EXPECT_TRUE(shares.waits("a"));
  shares.end("a");
  EXPECT_EQ(next("a"), "3");
  EXPECT_FALSE(shares.waits("a"));
}

TEST_F(SharesTest, WhoHasNothingIsForgotten) {
  begin("a", 1);
  EXPECT_TRUE(shares.forget());
  shares.wait("a", 1);
  shares.end("a");
  EXPECT_TRUE(shares.forget());  // somebody waits
  EXPECT_EQ(next("a"), "1");
  EXPECT_FALSE(shares.forget());
}

}  // namespace
}  // namespace sluice::host
