// What is read of a stored status as it stands: conditions and the admission, and nothing of what
// only looks like one.
#include "api/codec/status_text.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace sluice::api {
namespace {

constexpr std::string_view kAdmitted =
    R"({"admission":{"clusterQueue":"cq"},"conditions":[)"
    R"({"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"it \"fits\""},)"
    R"({"message":"waits, \"Evicted\"","reason":"Pending","status":"False","type":"Admitted"}]})";

TEST(StatusText, ConditionsStandInTheirOrder) {
  const auto all = conditions_in(kAdmitted);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].type, "QuotaReserved");
  EXPECT_EQ(all[0].status, "True");
  EXPECT_EQ(all[0].reason, "QuotaReserved");
  EXPECT_EQ(all[0].message, R"(it \"fits\")");
  EXPECT_EQ(all[1].type, "Admitted");
  EXPECT_EQ(all[1].reason, "Pending");
}

TEST(StatusText, OnlyATrueConditionIsHad) {
  const auto all = conditions_in(kAdmitted);
  EXPECT_TRUE(has_condition(all, "QuotaReserved"));
  EXPECT_FALSE(has_condition(all, "Admitted")) << "it is False";
  EXPECT_NE(find_condition(all, "Admitted"), nullptr);
  EXPECT_FALSE(has_condition(all, "Evicted")) << "a message alone names it";
  EXPECT_EQ(find_condition(all, "Evicted"), nullptr);
}

TEST(StatusText, TheAdmissionIsThatOfTheStatusItself) {
  EXPECT_EQ(admission_in(kAdmitted), R"({"clusterQueue":"cq"})");
  EXPECT_EQ(admission_in(R"({"other":{"admission":{"clusterQueue":"cq"}}})"), "");
}

TEST(StatusText, WhatIsAbsentOrOfAnotherTypeIsEmpty) {
  for (const std::string_view status :
       {"", "{}", "[]", R"({"conditions":null})", R"({"conditions":{"type":"Admitted"}})",
        R"({"conditions":[]})"})
    EXPECT_TRUE(conditions_in(status).empty()) << status;
  const auto odd =
      conditions_in(R"({"conditions":[7,{"type":7,"status":true},{"status":"True"}]})");
  ASSERT_EQ(odd.size(), 3U);
  for (const ConditionText& each : odd) EXPECT_EQ(each.type, "");
  EXPECT_FALSE(has_condition(odd, "7"));
}

}  // namespace
}  // namespace sluice::api
