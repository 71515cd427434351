// What the validator refuses, with field and wording.
#include "../validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace options {
namespace {

using sluice::Json;
using Kind = Problem::Kind;
using ::testing::HasSubstr;

std::vector<Problem> problems(const std::string& policy, const std::string& strategy = "",
                              const std::string& groups = "") {
  const std::string flavors =
      groups.empty() ? R"([{"flavors":[{"name":"a"},{"name":"b"}]}])" : groups;
  return check_queue(Json::parse(R"({"spec":{"queueingStrategy":")" + strategy +
                                 R"(","resourceGroups":)" + flavors + "," + policy + "}}"));
}

TEST(Validation, AcceptsWhatMakesSense) {
  for (const std::string policy : {
           R"("concurrentAdmission":{"onSuccess":"RemoveOther"})",
           R"("concurrentAdmission":{"onSuccess":"RemoveBelowTarget",
              "removeBelowTargetConfig":{"targetResourceFlavor":"b"}})",
           R"("concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":[
              {"name":"x","allowedResourceFlavors":["a","b"]}]})",
           R"("concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors",
              "constraints":{"lastAcceptableFlavorName":"a"}}})",
       })
    EXPECT_TRUE(problems(policy).empty()) << policy;
}

TEST(Validation, NamesFieldAndReason) {
  struct Row {
    std::string policy;
    Kind kind;
    std::string path, detail;
  };
  for (const Row& row : {
           Row{R"("concurrentAdmission":{"onSuccess":"RemoveBelowTarget"})", Kind::kRequired,
               "spec.concurrentAdmission.removeBelowTargetConfig",
               "onSuccess is RemoveBelowTarget"},
           Row{R"("concurrentAdmission":{"onSuccess":"RemoveLower",
                  "removeBelowTargetConfig":{"targetResourceFlavor":"a"}})",
               Kind::kForbidden, "spec.concurrentAdmission.removeBelowTargetConfig",
               "only when onSuccess is RemoveBelowTarget"},
           Row{R"("concurrentAdmission":{"onSuccess":"RemoveBelowTarget",
                  "removeBelowTargetConfig":{"targetResourceFlavor":"z"}})",
               Kind::kInvalid,
               "spec.concurrentAdmission.removeBelowTargetConfig.targetResourceFlavor",
               "must be a flavor of this ClusterQueue: a, b"},
           Row{R"("concurrentAdmission":{"onSuccess":"RemoveLower","explicitOptions":[
                  {"name":"x","allowedResourceFlavors":["a","z"]}]})",
               Kind::kInvalid,
               "spec.concurrentAdmission.explicitOptions[0].allowedResourceFlavors[1]",
               "must be a flavor of this ClusterQueue: a, b"},
           Row{R"("concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission",
                  "constraints":{"lastAcceptableFlavorName":"a"}}})",
               Kind::kForbidden,
               "spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName",
               "only when migration.mode is TryPreferredFlavors"},
       }) {
    const auto found = problems(row.policy);
    ASSERT_EQ(found.size(), 1U) << row.policy;
    EXPECT_EQ(found[0].kind, row.kind);
    EXPECT_EQ(found[0].path, row.path);
    EXPECT_THAT(found[0].detail, HasSubstr(row.detail));
  }
}

TEST(Validation, StrictFifoIsRefusedWithTheReason) {
  const auto found = problems(R"("concurrentAdmission":{"onSuccess":"RemoveOther"})", "StrictFIFO");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "spec.concurrentAdmission");
  EXPECT_THAT(found[0].detail, HasSubstr("use BestEffortFIFO"));
}

TEST(Validation, SeveralWideGroupsNeedAList) {
  const std::string groups = R"([{"flavors":[{"name":"a"},{"name":"b"}]},
                                 {"flavors":[{"name":"c"},{"name":"d"}]}])";
  const auto found = problems(R"("concurrentAdmission":{"onSuccess":"RemoveOther"})", "", groups);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::kRequired);
  EXPECT_EQ(found[0].path, "spec.concurrentAdmission.explicitOptions");
  EXPECT_TRUE(problems(R"("concurrentAdmission":{"onSuccess":"RemoveOther","explicitOptions":[
                          {"name":"x","allowedResourceFlavors":["a","c"]}]})",
                       "", groups)
                  .empty());
}

TEST(Validation, ConstraintsOfAWorkloadStayWhileItHoldsQuota) {
  const auto workload = [](const std::string& flavor, const std::string& reserved) {
    return Json::parse(R"({"spec":{"admissionConstraints":{"allowedResourceFlavors":[")" + flavor +
                       R"("]}},"status":{"conditions":[{"type":"QuotaReserved","status":")" +
                       reserved + R"("}]}})");
  };
  EXPECT_TRUE(check_workload(workload("a", "True"), workload("a", "True")).empty());
  EXPECT_TRUE(check_workload(workload("b", "False"), workload("a", "False")).empty());
  EXPECT_TRUE(check_workload(workload("b", "False"), Json()).empty());
  const auto found = check_workload(workload("b", "True"), workload("a", "True"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "spec.admissionConstraints");
}

}  // namespace
}  // namespace options
