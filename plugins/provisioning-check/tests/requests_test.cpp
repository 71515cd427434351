#include "../requests.hpp"

#include <gtest/gtest.h>

namespace provisioning {
namespace {

using sluice::Json;

const Attempt kAttempt{{"ns", "w", "uid-w", "check", 41}, 2};

TEST(Requests, ARequestSaysWhatIsWantedAndWhoseItIs) {
  const Json pod = Json::parse(R"({"spec":{"containers":[]}})");
  const std::vector<Share> shares = {{"main", 3, &pod}};
  Config config;
  config.class_name = "cls";
  Json request = request_for(kAttempt, config, {{"k", "v"}}, shares);
  EXPECT_EQ(request.find("spec")->dump(),
            R"({"provisioningClassName":"cls","parameters":{"k":"v"},"podSets":[)"
            R"({"podTemplateRef":{"name":"ppt-w-check-2-main"},"count":3}]})");
  EXPECT_EQ(request.string_or("metadata.name", ""), "w-check-2");
  EXPECT_EQ(request.string_or("metadata.ownerReferences.0.uid", ""), "uid-w");
  EXPECT_EQ(attempt_of(request), kAttempt);

  request["metadata"]["uid"] = "uid-r";
  const auto templates = templates_for(request, shares);
  ASSERT_EQ(templates.size(), 1u);
  EXPECT_EQ(templates[0].string_or("metadata.name", ""), "ppt-w-check-2-main");
  EXPECT_EQ(templates[0].string_or("metadata.ownerReferences.0.uid", ""), "uid-r");
  EXPECT_EQ(*templates[0].find("template"), pod);
}

TEST(Requests, ForeignOnesAreNotOurs) {
  EXPECT_FALSE(attempt_of(Json::parse("{}")));
  EXPECT_FALSE(attempt_of(Json::parse(R"({"metadata":{"name":"w-check-2"}})")));
  Config config;
  Json request = request_for(kAttempt, config, {}, {});
  request["metadata"]["annotations"]["sluice.dev/check-attempt"] = "two";
  EXPECT_FALSE(attempt_of(request));
}

}  // namespace
}  // namespace provisioning
