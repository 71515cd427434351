// What the rules of spec.successPolicy of an Indexed Job may say, as a table.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/api/objects.hpp"

namespace sluice::api {
namespace {

/// Of a Job of five indexes with this rule.
std::vector<std::string> problems(const std::string& rule) {
  boost::json::object job = testing::object(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},"spec":{
          "completionMode":"Indexed","completions":5,"successPolicy":{"rules":[)" +
      rule + R"(]},"template":{"spec":{"restartPolicy":"Never","containers":[
          {"name":"c","image":"busybox:1.36"}]}}}})");
  return testing::lines(testing::core_scheme()
                            .admit(job, nullptr, {.unknown_fields = UnknownFields::kRefuse})
                            .errors);
}

TEST(SuccessPolicy, RulesThatCannotBeMetAreRefused) {
  const std::string at = "spec.successPolicy.rules[0]";
  const std::pair<const char*, std::string> cases[] = {
      {R"({"succeededIndexes":"0,2-3","succeededCount":2})", ""},
      {R"({"succeededIndexes":"","succeededCount":0})", ""},
      {R"({})",
       ": Required value: at least one of succeededCount or succeededIndexes must be specified"},
      {R"({"succeededIndexes":"5"})",
       R"(.succeededIndexes: Invalid value: "5": error parsing succeededIndexes: )"
       R"(too large index: "5")"},
      {R"({"succeededIndexes":"1,x"})",
       R"(.succeededIndexes: Invalid value: "1,x": error parsing succeededIndexes: )"
       R"(cannot convert string to integer for index: "x")"},
      {R"({"succeededIndexes":"2,1"})",
       R"(.succeededIndexes: Invalid value: "2,1": error parsing succeededIndexes: )"
       "non-increasing order, previous: 2, current: 1"},
      {R"({"succeededIndexes":"1-1"})",
       R"(.succeededIndexes: Invalid value: "1-1": error parsing succeededIndexes: )"
       "non-increasing order, previous: 1, current: 1"},
      {R"({"succeededIndexes":"1-2-3"})",
       R"(.succeededIndexes: Invalid value: "1-2-3": error parsing succeededIndexes: the )"
       R"(fragment "1-2-3" violates the requirement that an index interval can have at most two )"
       "parts separated by '-'"},
      {R"({"succeededCount":6})",
       ".succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of "
       "specified completions)"},
      {R"({"succeededIndexes":"0-1","succeededCount":3})",
       ".succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes "
       "in the specified succeededIndexes field)"},
      {R"({"succeededCount":-1})",
       ".succeededCount: Invalid value: -1: spec.successPolicy.rules[0].succeededCount in body "
       "should be greater than or equal to 0"},
  };
  for (const auto& [rule, expected] : cases) {
    const auto found = problems(rule);
    EXPECT_EQ(found.empty() ? "" : found[0], expected.empty() ? "" : at + expected) << rule;
  }
}

}  // namespace
}  // namespace sluice::api
