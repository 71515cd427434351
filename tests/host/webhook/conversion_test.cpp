// Objects in another version, as an API server has them converted: there and back nothing is lost.
#include "host/webhook/conversion.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

std::string review(std::string_view version, std::string_view objects) {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{)"
         R"("uid":"7","desiredAPIVersion":")" +
         std::string(version) + R"(","objects":)" + std::string(objects) + "}}";
}

json::value response(std::string_view version, std::string_view objects) {
  const auto answer = answer_conversion(test::scheme(), review(version, objects));
  EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().text);
  return json::parse(*answer).at("response");
}

TEST(Conversion, ThereAndBackNothingIsLost) {
  // A weight is in one place in one version and in another one in the other.
  const std::string stored =
      R"([{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",)"
      R"("metadata":{"name":"w","namespace":"a","uid":"u","resourceVersion":"5"},)"
      R"("spec":{"queueName":"q","active":true,"priority":3,)"
      R"("priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"p"},)"
      R"("podSets":[{"name":"main","count":2,"template":{"spec":{"containers":[{"name":"c"}]}}}]},)"
      R"("status":{"conditions":[{"type":"Admitted","status":"True","reason":"r","message":"m",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}}])";
  const json::value old = response("kueue.x-k8s.io/v1beta1", stored);
  EXPECT_EQ(old.at("uid"), "7");
  ASSERT_EQ(old.at("result").at("status"), "Success") << json::serialize(old);
  const json::value& converted = old.at("convertedObjects").at(0);
  EXPECT_EQ(converted.at("apiVersion"), "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(converted.at("spec").at("priorityClassName"), "p");
  EXPECT_EQ(converted.at("metadata").at("resourceVersion"), "5");
  const json::value back =
      response("kueue.x-k8s.io/v1beta2", json::serialize(old.at("convertedObjects")));
  EXPECT_EQ(back.at("convertedObjects"), json::parse(stored));
}

TEST(Conversion, WhatIsStoredIsNotJudged) {
  // No such policy: however it was stored, it stays readable.
  const json::value done = response(
      "kueue.x-k8s.io/v1beta1",
      R"([{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},)"
      R"("spec":{"stopPolicy":"Sometimes"}}])");
  ASSERT_EQ(done.at("result").at("status"), "Success");
  EXPECT_EQ(done.at("convertedObjects").at(0).at("spec").at("stopPolicy"), "Sometimes");
}

TEST(Conversion, OneThatCannotBeFailsAll) {
  struct Case {
    const char *version, *objects, *message;
  };
  const Case cases[] = {
      {"kueue.x-k8s.io/v1beta1", R"([7])", "request.objects[0]: no object"},
      {"kueue.x-k8s.io/v1beta1", R"([{"apiVersion":"batch/v1","kind":"Job"}])",
       R"(request.objects[0].apiVersion: found "batch/v1"; allowed: a version of kueue.x-k8s.io)"},
      {"kueue.x-k8s.io/v9", R"([{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort"}])",
       "request.objects[0]: Cohort has no version v9"},
      {"kueue.x-k8s.io/v1beta1", R"([{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cow"}])",
       "no matches for kind"},
  };
  for (const Case& c : cases) {
    const json::value done = response(c.version, c.objects);
    EXPECT_EQ(done.at("result").at("status"), "Failure") << c.message;
    EXPECT_THAT(std::string(done.at("result").at("message").as_string()), HasSubstr(c.message));
  }
}

TEST(Conversion, WhatIsNoReviewIsToldByItsPlace) {
  const char* head = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview")";
  struct Case {
    std::string text;
    const char* error;
  };
  const Case cases[] = {
      {"", "the body is empty"},
      {"{}", "kind"},
      {R"({"kind":"ConversionReview","apiVersion":"v1"})", "apiVersion"},
      {std::string(head) + "}", "request"},
      {std::string(head) + R"(,"request":{}})", "request.uid"},
      {std::string(head) + R"(,"request":{"uid":"7","desiredAPIVersion":"v1"}})",
       "request.desiredAPIVersion"},
      {std::string(head) + R"(,"request":{"uid":"7","desiredAPIVersion":"a/b"}})",
       "request.objects"},
  };
  for (const Case& c : cases) {
    const auto done = answer_conversion(test::scheme(), c.text);
    ASSERT_FALSE(done.ok()) << c.text;
    EXPECT_EQ(done.error().code, 400);
    EXPECT_THAT(done.error().text, HasSubstr(c.error)) << c.text;
  }
}

}  // namespace
}  // namespace sluice::host
