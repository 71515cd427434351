// What a pod asks for, and what that is for quota. cpu is in thousandths, all else in units.
#include "core/types/resource_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/types/amount.hpp"

namespace sluice {
namespace {

using api::ResourceRequest;
using Requests = std::vector<ResourceRequest>;

std::string text(const Requests& requests) {
  std::string out;
  for (const ResourceRequest& each : requests)
    out += (out.empty() ? "" : " ") + each.resource + "=" + std::to_string(each.amount);
  return out;
}

ResourceTransformation transformation(std::string input, bool retains,
                                      std::vector<std::pair<std::string, std::int64_t>> outputs,
                                      std::string multiply_by = "") {
  return {std::move(input), retains, std::move(multiply_by), std::move(outputs)};
}

constexpr std::int64_t kUnit = 1000;
constexpr std::int64_t kGi = 1LL << 30;

const Requests kPod = {
    {"cpu", 1500}, {"gpu", 2}, {"memory", 4 * kGi}, {"mig-1g", 3}, {"mig-2g", 1}};

TEST(ResourceRules, WithoutRulesThatIsWhatItAsksFor) {
  EXPECT_EQ(text(asked_of_quota(kPod, {})), text(kPod));
}

TEST(ResourceRules, ExcludedPrefixesGo) {
  ResourceRules rules;
  rules.excluded_prefixes = {"mig-", "mem"};
  EXPECT_EQ(text(asked_of_quota(kPod, rules)), "cpu=1500 gpu=2");
}

// 3 × 5 + 1 × 10 = 25.
TEST(ResourceRules, ReplacedResourcesAddUpInOne) {
  ResourceRules rules;
  rules.transformations = {transformation("mig-1g", false, {{"gpu-memory", 5 * kUnit}}),
                           transformation("mig-2g", false, {{"gpu-memory", 10 * kUnit}})};
  EXPECT_EQ(text(asked_of_quota(kPod, rules)), "cpu=1500 gpu=2 gpu-memory=25 memory=4294967296");
}

// 2 × 10 credits; 1.5 cpu are 2 whole ones.
TEST(ResourceRules, RetainedResourcesCountBeside) {
  ResourceRules rules;
  rules.transformations = {transformation("gpu", true, {{"credits", 10 * kUnit}}),
                           transformation("cpu", true, {{"credits", kUnit}})};
  EXPECT_EQ(text(asked_of_quota({{"cpu", 1500}, {"gpu", 2}}, rules)), "cpu=1500 credits=22 gpu=2");
}

TEST(ResourceRules, ReplacedByNothingIsNotCounted) {
  ResourceRules rules;
  rules.transformations = {transformation("gpu", false, {})};
  EXPECT_EQ(text(asked_of_quota({{"cpu", 1000}, {"gpu", 2}}, rules)), "cpu=1000");
}

// memory per gpu: 4 Gi × 2. Without a gpu it stays as it is.
TEST(ResourceRules, AnotherResourceMultiplies) {
  ResourceRules rules;
  rules.transformations = {transformation("memory", false, {{"all-memory", kUnit}}, "gpu")};
  EXPECT_EQ(text(asked_of_quota({{"gpu", 2}, {"memory", 4 * kGi}}, rules)),
            "all-memory=8589934592 gpu=2");
  EXPECT_EQ(text(asked_of_quota({{"memory", 4 * kGi}}, rules)), "all-memory=4294967296");
}

// Half a credit each: 3 × 0.5 = 1.5, and quota is not given in halves. Of cpu it is: 3 × 0.5 =
// 1500m.
TEST(ResourceRules, PartsOfAUnitAddUpBeforeTheyAreRounded) {
  ResourceRules rules;
  rules.transformations = {transformation("gpu", false, {{"credits", 500}, {"cpu", 500}})};
  EXPECT_EQ(text(asked_of_quota({{"gpu", 3}}, rules)), "cpu=1500 credits=2");
}

TEST(ResourceRules, AnOutputThatIsAnInputIsNotTransformedAgain) {
  ResourceRules rules;
  rules.transformations = {transformation("a", false, {{"b", kUnit}}),
                           transformation("b", false, {{"c", kUnit}})};
  EXPECT_EQ(text(asked_of_quota({{"a", 1}, {"b", 2}}, rules)), "b=1 c=2");
}

TEST(ResourceRules, AnExcludedResourceDoesNotMultiply) {
  ResourceRules rules;
  rules.excluded_prefixes = {"gpu"};
  rules.transformations = {transformation("memory", true, {}, "gpu")};
  EXPECT_EQ(text(asked_of_quota({{"gpu", 2}, {"memory", 5}}, rules)), "memory=5");
}

TEST(ResourceRules, WhatIsBeyondAllQuotaIsTheLargestAmount) {
  ResourceRules rules;
  rules.transformations = {transformation("memory", false, {{"out", kMaxAmount}}, "gpu")};
  EXPECT_EQ(text(asked_of_quota({{"gpu", kMaxAmount}, {"memory", kMaxAmount}}, rules)),
            "gpu=" + std::to_string(kMaxAmount) + " out=" + std::to_string(kMaxAmount));
}

// Whatever the rules, names come in order and each once, and amounts are none below nothing.
TEST(ResourceRules, AnswersAreInOrderForAnyRules) {
  std::mt19937 random(7);
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random()) % below; };
  const std::vector<std::string> names = {"a", "b", "cpu", "d", "e"};
  for (int n = 0; n < 2000; ++n) {
    ResourceRules rules;
    Requests pod;
    for (const std::string& name : names) {
      if (draw(2) == 0) pod.push_back({name, static_cast<Amount>(draw(5000))});
      if (draw(6) == 0) rules.excluded_prefixes.push_back(name);
      if (draw(2) == 0) continue;
      ResourceTransformation rule{name, draw(2) == 0, draw(3) == 0 ? names[draw(5)] : "", {}};
      for (std::size_t i = draw(3); i > 0; --i)
        rule.outputs_milli.emplace_back(names[draw(5)], static_cast<Amount>(draw(3000)));
      rules.transformations.push_back(std::move(rule));
    }
    const Requests out = asked_of_quota(pod, rules);
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_GE(out[i].amount, 0);
      if (i == 0) continue;
      EXPECT_LT(out[i - 1].resource, out[i].resource);
    }
  }
}

}  // namespace
}  // namespace sluice
