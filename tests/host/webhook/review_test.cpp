// The texts of reviews: what is read of them, what is answered, what is no review.
#include "host/webhook/review.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string review(std::string_view request) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":)" +
         std::string(request) + "}";
}

TEST(Review, SaysWhatIsToBeStored) {
  const auto read = parse_admission_review(review(
      R"({"uid":"7","kind":{"group":"batch","version":"v1","kind":"Job"},"namespace":"a",
          "name":"j","operation":"UPDATE","subResource":"status",
          "userInfo":{"username":"ann","groups":["x","y"]},
          "options":{"kind":"PatchOptions","fieldManager":"m"},
          "object":{"spec":{"n":2}},"oldObject":{"spec":{"n":1}}})"));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->uid, "7");
  EXPECT_EQ(read->operation, ReviewedOperation::kUpdate);
  EXPECT_EQ(read->api_version, "batch/v1");
  EXPECT_EQ(read->kind, "Job");
  EXPECT_EQ(read->subresource, "status");
  EXPECT_EQ(read->ns, "a");
  EXPECT_EQ(read->name, "j");
  EXPECT_EQ(read->user, "ann");
  EXPECT_EQ(read->field_manager, "m");
  EXPECT_THAT(read->groups, ElementsAre("x", "y"));
  EXPECT_EQ(read->object.at("spec").at("n"), 2);
  EXPECT_EQ(read->old->at("spec").at("n"), 1);
}

TEST(Review, OfTheCoreGroupHasAVersionAlone) {
  const auto read = parse_admission_review(review(
      R"({"uid":"7","kind":{"group":"","version":"v1","kind":"Pod"},"operation":"DELETE"})"));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->api_version, "v1");
  EXPECT_EQ(read->operation, ReviewedOperation::kDelete);
}

TEST(Review, WhatIsNoneIsToldByItsPlace) {
  struct Case {
    std::string text;
    const char* error;
  };
  const Case cases[] = {
      {"", "the body is empty"},
      {"[]", "the body: found \"\"; allowed: one object"},
      {R"({"kind":"Pod"})", R"(kind: found "Pod"; allowed: AdmissionReview)"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"})",
       R"(apiVersion: found "admission.k8s.io/v1beta1"; allowed: admission.k8s.io/v1)"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})",
       "request: found \"\"; allowed: an object"},
      {review(R"({"operation":"CREATE"})"), "request.uid: found \"\"; allowed: a text"},
      {review(R"({"uid":"7","operation":"MAKE"})"),
       "request.operation: found \"MAKE\"; allowed: CREATE, UPDATE, DELETE, CONNECT"},
      {review(R"({"uid":"7","operation":"CREATE","kind":"Job"})"), "request.kind: found"},
      {review(R"({"uid":"7","operation":"CREATE","kind":{"version":"v1","kind":"Pod"}})"),
       "request.object: found \"\"; allowed: an object"},
      {review(R"({"uid":"7","operation":"UPDATE","kind":{"version":"v1","kind":"Pod"},
                  "object":{}})"),
       "request.oldObject: found \"\"; allowed: an object"},
  };
  for (const Case& c : cases) {
    const auto read = parse_admission_review(c.text);
    ASSERT_FALSE(read.ok()) << c.text;
    EXPECT_EQ(read.error().code, 400) << c.text;
    EXPECT_THAT(read.error().text, HasSubstr(c.error)) << c.text;
  }
  const auto large = parse_admission_review(std::string(kMostReviewBytes + 1, ' '));
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, 413);
}

TEST(Review, AnswersWithTheRequestsUid) {
  EXPECT_EQ(json::parse(admission_answer("7", {})),
            json::parse(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
                            "response":{"uid":"7","allowed":true}})"));
  Verdict changed;
  changed.patch = json::parse(R"([{"op":"add","path":"/spec/suspend","value":true}])").as_array();
  changed.warnings = {"w", std::string(300, 'x')};
  const json::value answer = json::parse(admission_answer("7", changed));
  const json::value& response = answer.at("response");
  EXPECT_EQ(response.at("patchType"), "JSONPatch");
  EXPECT_EQ(response.at("patch"),
            "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvc3VzcGVuZCIsInZhbHVlIjp0cnVlfV0=");
  EXPECT_EQ(response.at("warnings").at(0), "w");
  EXPECT_EQ(response.at("warnings").at(1).as_string().size(), 256u);
  Verdict refused;
  refused.refused = bad_request("no");
  const json::value other = json::parse(admission_answer("7", refused));
  EXPECT_EQ(other.at("response").at("allowed"), false);
  EXPECT_EQ(other.at("response").at("status").at("code"), 400);
  EXPECT_EQ(other.at("response").at("status").at("message"), "no");
}

}  // namespace
}  // namespace sluice::host
