// Policies read from both spellings, the order of options, and what is below a target.
#include "../policy.hpp"

#include <gtest/gtest.h>

namespace options {
namespace {

using sluice::Json;

/// A queue with the given groups (flavors separated by blanks, groups by `|`) and policy.
Json queue(const std::string& groups, const std::string& policy) {
  std::string list, flavors;
  const auto close = [&] {
    list += (list.empty() ? "" : ",") + std::string("{\"flavors\":[") + flavors + "]}";
    flavors.clear();
  };
  std::string word;
  for (const char c : groups + " ") {
    if (c != ' ' && c != '|') {
      word += c;
      continue;
    }
    if (!word.empty()) flavors += (flavors.empty() ? "" : ",") + ("{\"name\":\"" + word + "\"}");
    word.clear();
    if (c == '|') close();
  }
  close();
  return Json::parse("{\"spec\":{\"resourceGroups\":[" + list + "]" +
                     (policy.empty() ? "" : "," + policy) + "}}");
}

std::string names(const Policy& policy) {
  std::string out;
  for (const OptionSpec& option : policy.options) {
    out += (out.empty() ? "" : " ") + option.name + ":";
    for (const std::string& flavor : option.flavors)
      out += (&flavor == &option.flavors.front() ? "" : "+") + flavor;
  }
  return out;
}

TEST(Policy, AQueueWithoutTheFieldHasNone) {
  EXPECT_FALSE(policy_of(queue("a b", "")).has_value());
}

TEST(Policy, WithoutAListThereIsOneOptionPerFlavorInTheirOrder) {
  const auto policy =
      policy_of(queue("gold silver", R"("concurrentAdmission":{"onSuccess":"RemoveOther"})"));
  ASSERT_TRUE(policy);
  EXPECT_EQ(names(*policy), "gold:gold silver:silver");
}

TEST(Policy, WhatTheOtherGroupsHaveIsAllowedToEachOption) {
  const auto policy =
      policy_of(queue("cpu|fast slow", R"("concurrentAdmission":{"onSuccess":"RemoveLower"})"));
  EXPECT_EQ(names(*policy), "fast:cpu+fast slow:cpu+slow");
}

TEST(Policy, ListedOptionsAreRankedByTheirBestFlavorAndThenAsListed) {
  const auto policy = policy_of(
      queue("a b c", R"("concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":[
        {"name":"late","allowedResourceFlavors":["c"]},
        {"name":"wide","allowedResourceFlavors":["c","a"]},
        {"name":"first","allowedResourceFlavors":["a"],"createDelaySeconds":7},
        {"name":"mid","allowedResourceFlavors":["b"],"deleteDelaySeconds":9}]})"));
  EXPECT_EQ(names(*policy), "wide:c+a first:a mid:b late:c");
  EXPECT_EQ(policy->find("first")->create_delay_seconds, 7);
  EXPECT_EQ(policy->find("mid")->delete_delay_seconds, 9);
  EXPECT_FALSE(policy->find("late")->delete_delay_seconds.has_value());
}

TEST(Policy, TheFirstGroupCountsFirst) {
  const auto policy = policy_of(
      queue("g1 g2|c1 c2", R"("concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":[
        {"name":"x","allowedResourceFlavors":["g2","c1"]},
        {"name":"y","allowedResourceFlavors":["g1","c2"]}]})"));
  EXPECT_EQ(names(*policy), "y:g1+c2 x:g2+c1");
}

TEST(Policy, BothSpellingsMeanTheSame) {
  struct Row {
    std::string own, other;
  };
  for (const Row& row : {
           Row{R"({"onSuccess":"RemoveOther"})",
               R"({"migration":{"mode":"RetainFirstAdmission"}})"},
           Row{R"({"onSuccess":"RemoveLower"})", R"({"migration":{"mode":"TryPreferredFlavors"}})"},
           Row{R"({"onSuccess":"RemoveBelowTarget",
                   "removeBelowTargetConfig":{"targetResourceFlavor":"a"}})",
               R"({"migration":{"mode":"TryPreferredFlavors",
                   "constraints":{"lastAcceptableFlavorName":"a"}}})"},
           Row{R"({"onSuccess":"RemoveOther","explicitOptions":[
                   {"name":"x","allowedResourceFlavors":["b"],"createDelaySeconds":3}]})",
               R"({"migration":{"mode":"RetainFirstAdmission"},"explicitVariants":[
                   {"name":"x","allowedResourceFlavors":["b"],"createDelaySeconds":3}]})"},
       }) {
    const auto own = policy_of(queue("a b", "\"concurrentAdmission\":" + row.own));
    const auto other = policy_of(queue("a b", "\"concurrentAdmissionPolicy\":" + row.other));
    EXPECT_TRUE(*own == *other) << row.own;
  }
}

TEST(Policy, WhatIsBelowTheTarget) {
  const auto policy = policy_of(queue("res od spot|cpu", R"("concurrentAdmission":{
      "onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{"targetResourceFlavor":"od"}})"));
  EXPECT_FALSE(policy->below_target({"res", "cpu"}));
  EXPECT_FALSE(policy->below_target({"od"}));
  EXPECT_FALSE(policy->below_target({"spot", "od"}));
  EXPECT_TRUE(policy->below_target({"spot", "cpu"}));
  EXPECT_TRUE(policy->below_target({"cpu"}));
}

TEST(Policy, AStrangerRanksBetweenItsNeighbours) {
  const auto policy =
      policy_of(queue("a b c", R"("concurrentAdmission":{"onSuccess":"RemoveLower"})"));
  // Ranks of the options: a 2, b 4, c 6.
  EXPECT_EQ(policy->rank_of_stranger({"a"}), 3);
  EXPECT_EQ(policy->rank_of_stranger({"b", "c"}), 5);
  EXPECT_EQ(policy->rank_of_stranger({"gone"}), 7);
}

}  // namespace
}  // namespace options
