// Names of options: the plain form, shortening, and what keeps two apart.
#include "../names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace options {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Names, ArePlainWhereTheyFit) {
  EXPECT_EQ(option_name("job-a-1b2c3", "spot"), "job-a-1b2c3-option-spot");
  // 253 - 8 = 245 characters for both names.
  const std::string parent(240, 'a');
  EXPECT_EQ(option_name(parent, "bcdef"), parent + "-option-bcdef");
}

TEST(Names, OneTooLongIsCutOnTheSideOfTheParentAndEndsInAHash) {
  const std::string name = option_name(std::string(241, 'a'), "bcdef");
  EXPECT_EQ(name.size(), kLongestName);
  EXPECT_THAT(name, StartsWith("aaaa"));
  EXPECT_THAT(name, HasSubstr("-option-bcdef-"));
  EXPECT_NE(name, option_name(std::string(242, 'a'), "bcdef"));
}

TEST(Names, BothSidesAreCutWhenBothAreLong) {
  const std::string name = option_name(std::string(253, 'a'), std::string(253, 'b'));
  EXPECT_EQ(name.size(), kLongestName);
  EXPECT_THAT(name, HasSubstr("a-option-b"));
}

TEST(Names, ACutNeverEndsInADashOrADot) {
  // The cut would fall behind the dash.
  const std::size_t left = kLongestName - 8 - 4 - 1 - 10;
  std::string parent(300, 'a');
  parent[left - 1] = '-';
  EXPECT_THAT(option_name(parent, "spot"), HasSubstr("a-option-spot-"));
}

TEST(Names, ANameThatIsTakenGetsTheHash) {
  const std::string name = option_name("a", "spot", true);
  EXPECT_THAT(name, StartsWith("a-option-spot-"));
  EXPECT_EQ(name.size(), std::string("a-option-spot-").size() + 10);
}

TEST(Names, AreTheSameEachTime) {
  EXPECT_EQ(option_name(std::string(300, 'x'), "y"), option_name(std::string(300, 'x'), "y"));
}

}  // namespace
}  // namespace options
