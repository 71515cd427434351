// The kinds that the plugin adds, as the API serves them.
#include "../schema.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/scheme/scheme.hpp"

namespace provisioning {
namespace {

namespace json = boost::json;

class Schema : public ::testing::Test {
 protected:
  Schema() {
    const auto added = scheme_.add(kSchema, "provisioning-check");
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().text);
  }

  /// The errors of an object; the object's spec when there are none.
  std::string admit(const std::string& version, const std::string& kind, const std::string& spec,
                    const std::string& old_spec = "") {
    const auto object = [&](const std::string& of) {
      return json::parse(R"({"apiVersion":")" + version + R"(","kind":")" + kind +
                         R"(","metadata":{"name":"a")" +
                         (kind == "ProvisioningRequest" ? R"(,"namespace":"ns")" : "") +
                         R"(},"spec":)" + of + "}")
          .get_object();
    };
    json::object now = object(spec);
    json::object before = old_spec.empty() ? json::object() : object(old_spec);
    const auto outcome = scheme_.admit(now, old_spec.empty() ? nullptr : &before);
    return outcome.ok() ? json::serialize(now.at("spec")) : outcome.error_text();
  }

  sluice::api::Scheme scheme_;
};

TEST_F(Schema, DefaultsOfTheConfiguration) {
  for (const char* version : {"kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"})
    EXPECT_EQ(admit(version, "ProvisioningRequestConfig", R"({"provisioningClassName":"c"})"),
              R"({"provisioningClassName":"c","retryStrategy":{"backoffLimitCount":3,)"
              R"("backoffBaseSeconds":60,"backoffMaxSeconds":1800}})")
        << version;
}

TEST_F(Schema, MistakesInTheConfiguration) {
  const auto with = [&](const std::string& more) {
    return admit("kueue.x-k8s.io/v1beta2", "ProvisioningRequestConfig",
                 R"({"provisioningClassName":"c",)" + more + "}");
  };
  EXPECT_EQ(with(R"("podSetMergePolicy":"Both")"),
            "spec.podSetMergePolicy: Unsupported value: \"Both\": supported values: "
            "\"IdenticalPodTemplates\", \"IdenticalWorkloadSchedulingRequirements\"");
  EXPECT_NE(with(R"("managedResources":["a","a"])").find("Duplicate value"), std::string::npos);
  EXPECT_NE(with(R"("podSetUpdates":{"nodeSelector":[{"key":"k"}]})").find("Required value"),
            std::string::npos);
}

TEST_F(Schema, WhatARequestWantsNeverChanges) {
  const std::string spec =
      R"({"provisioningClassName":"c","podSets":[{"count":1,"podTemplateRef":{"name":"t"}}]})";
  for (const char* version : {"autoscaling.x-k8s.io/v1", "autoscaling.x-k8s.io/v1beta1"}) {
    EXPECT_EQ(admit(version, "ProvisioningRequest", spec, spec), spec);
    const std::string other =
        R"({"provisioningClassName":"c","podSets":[{"count":2,"podTemplateRef":{"name":"t"}}]})";
    EXPECT_NE(admit(version, "ProvisioningRequest", other, spec).find("Value is immutable"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace provisioning
