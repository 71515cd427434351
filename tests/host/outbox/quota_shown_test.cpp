#include "host/outbox/quota_shown.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

constexpr const char* kHeld =
    R"({"admission":{"clusterQueue":"a"},"conditions":[{"type":"QuotaReserved","status":"True"}]})";
constexpr const char* kElsewhere =
    R"({"admission":{"clusterQueue":"b"},"conditions":[{"type":"QuotaReserved","status":"True"}]})";
constexpr const char* kFinished =
    R"({"admission":{"clusterQueue":"a"},"conditions":[{"type":"QuotaReserved","status":"True"},)"
    R"({"type":"Finished","status":"True","reason":"Succeeded"}]})";
constexpr const char* kWaits =
    R"({"conditions":[{"type":"QuotaReserved","status":"False","message":"1 more needed"}]})";

TEST(QuotaShown, WhatAStepDoesWithQuota) {
  const struct {
    const char *before, *after;
    bool gives, ends;
  } rows[] = {
      {"", kHeld, true, false},      {kWaits, kHeld, true, false},
      {kHeld, kWaits, false, true},  {kHeld, kElsewhere, true, true},
      {kHeld, kHeld, false, false},  {kHeld, kFinished, false, true},
      {"", kFinished, false, false}, {"", kWaits, false, false},
  };
  for (const auto& row : rows) {
    const QuotaShown before = quota_shown(row.before);
    const QuotaShown after = quota_shown(row.after);
    EXPECT_EQ(gives_quota(before, after), row.gives) << row.before << " to " << row.after;
    EXPECT_EQ(ends_quota(before, after), row.ends) << row.before << " to " << row.after;
  }
}

// An API server has the members of an object in the order of their names.
TEST(QuotaShown, TheOrderOfMembersSaysNothing) {
  constexpr const char* kOneOrder =
      R"({"admission":{"clusterQueue":"a","podSetAssignments":[{"name":"p","count":1}]},)"
      R"("conditions":[{"type":"QuotaReserved","status":"True"}]})";
  constexpr const char* kOtherOrder =
      R"({"admission":{"podSetAssignments":[{"count":1,"name":"p"}],"clusterQueue":"a"},)"
      R"("conditions":[{"status":"True","type":"QuotaReserved"}]})";
  EXPECT_FALSE(gives_quota(quota_shown(kOneOrder), quota_shown(kOtherOrder)));
  EXPECT_FALSE(ends_quota(quota_shown(kOneOrder), quota_shown(kOtherOrder)));
  EXPECT_TRUE(same_course(kOneOrder, kOtherOrder));
  EXPECT_TRUE(same_but_times(kOneOrder, kOtherOrder));
}

TEST(QuotaShown, AFalseConditionSaysAsMuchAsNone) {
  EXPECT_TRUE(same_course("", kWaits));
  EXPECT_FALSE(same_course(kHeld, kFinished));
  EXPECT_TRUE(same_but_end(kHeld, kFinished));
  EXPECT_FALSE(same_but_end(kElsewhere, kFinished));
}

TEST(QuotaShown, WhenSomethingHappenedIsNoDifference) {
  const std::string one =
      R"({"conditions":[{"type":"A","status":"True","lastTransitionTime":"1","reason":"R"}]})";
  const std::string later =
      R"({"conditions":[{"type":"A","status":"True","lastTransitionTime":"2","reason":"R"}]})";
  const std::string other = R"({"conditions":[{"type":"A","status":"True","reason":"S"}]})";
  EXPECT_TRUE(same_but_times(one, later));
  EXPECT_FALSE(same_but_times(one, other));
}

}  // namespace
}  // namespace sluice::host
