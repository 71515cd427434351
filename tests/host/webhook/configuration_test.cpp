// What a cluster is told of the webhook.
#include "host/webhook/configuration.hpp"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;

WebhookPlan plan(bool pods) {
  WebhookPlan out;
  out.place.ns = "sluice-system";
  out.controller = "sluice-controller";
  for (const char* kind : {"ClusterQueue", "Workload"})
    out.own.push_back(test::scheme().find_by_name(kind));
  out.jobs = {test::scheme().find("batch/v1", "Job")};
  out.pods = pods;
  return out;
}

const json::object& webhook(const json::object& configuration, std::size_t i) {
  return configuration.at("webhooks").at(i).as_object();
}

TEST(WebhookConfiguration, WhoIsAwayIsNotPassedBy) {
  for (const json::object& made : webhook_configurations(plan(true))) {
    EXPECT_EQ(made.at("webhooks").as_array().size(), 3u);
    for (const json::value& each : made.at("webhooks").as_array()) {
      EXPECT_EQ(each.at("failurePolicy"), "Fail");
      EXPECT_EQ(each.at("sideEffects"), "None");
      EXPECT_EQ(each.at("timeoutSeconds"), 10);
      EXPECT_EQ(each.at("matchConditions").at(0).at("expression"),
                "request.userInfo.username != "
                "'system:serviceaccount:sluice-system:sluice-controller'");
    }
    EXPECT_EQ(made.at("metadata").at("annotations").at("sluice.dev/webhook-ca-of"),
              "sluice-system/sluice-webhook");
  }
}

// A job that has ended is counted, and a deleted one goes, while nobody answers.
TEST(WebhookConfiguration, FinalizersOfJobsAndPodsAreNotJudged) {
  for (const json::object& made : webhook_configurations(plan(true))) {
    EXPECT_EQ(webhook(made, 0).at("matchConditions").as_array().size(), 1u) << "queues, workloads";
    for (const std::size_t i : {1u, 2u}) {
      const json::array& conditions = webhook(made, i).at("matchConditions").as_array();
      ASSERT_EQ(conditions.size(), 2u);
      EXPECT_EQ(conditions[1].at("name"), "more-than-finalizers");
      const std::string expression(conditions[1].at("expression").as_string());
      EXPECT_TRUE(expression.starts_with(
          "request.operation != 'UPDATE' || (!has(object.metadata.deletionTimestamp) && ("
          "has(object.spec) != has(oldObject.spec) || (has(object.spec) && object.spec != "
          "oldObject.spec) || "))
          << expression;
    }
  }
}

TEST(WebhookConfiguration, KindsAreAskedAboutInTheVersionThatIsStored) {
  const auto made = webhook_configurations(plan(false));
  EXPECT_EQ(json::serialize(webhook(made[0], 0).at("rules")),
            R"([{"apiGroups":["kueue.x-k8s.io"],"apiVersions":["v1beta2"],)"
            R"("operations":["CREATE","UPDATE"],"resources":["clusterqueues","workloads"],)"
            R"("scope":"*"}])");
  EXPECT_EQ(webhook(made[0], 0).at("clientConfig").at("service").at("path"), "/mutate");
  EXPECT_EQ(webhook(made[1], 0).at("clientConfig").at("service").at("path"), "/validate");
  EXPECT_EQ(made[0].at("webhooks").as_array().size(), 2u);  // no plugin asks about pods
}

TEST(WebhookConfiguration, TheSystemAndTheControllerDoNotWaitForIt) {
  const auto made = webhook_configurations(plan(true));
  for (const std::size_t i : {1u, 2u})
    EXPECT_EQ(json::serialize(webhook(made[0], i).at("namespaceSelector")),
              R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn",)"
              R"("values":["kube-system","sluice-system"]}]})");
  EXPECT_EQ(json::serialize(webhook(made[0], 2).at("objectSelector")),
            R"({"matchExpressions":[{"key":"kueue.x-k8s.io/podset","operator":"Exists"}]})");
  EXPECT_FALSE(webhook(made[0], 0).contains("namespaceSelector"));
}

JudgedKind judged(std::string_view line) {
  auto out = parse_judged_kind(line);
  SLUICE_CHECK(out.ok(), out.error().text);
  return *out;
}

// A plugin that judges a kind which the API server has by itself is asked about it, as far as it
// says; not twice about those of which plugins are asked anyway.
TEST(WebhookConfiguration, PluginsAreAskedAboutTheKindsThatTheyName) {
  WebhookPlan made = plan(false);
  auto asked = asked_kinds({{"x", judged("Pod label:example.com/a,!b except:quiet,kube-system")},
                            {"x", judged("Pod label:!example.com/a annotation:!held if-answered")},
                            {"y", judged("kueue.x-k8s.io/Workload")},
                            {"y", judged("batch/Job")},
                            {"y", judged("apps/Deployment resource:v1/deployments")},
                            {"y", judged("example.com/Unheard")}},
                           test::scheme(), {made.own[0], made.own[1], made.jobs[0]});
  ASSERT_TRUE(asked.ok()) << asked.error().text;
  made.asked = *asked;
  for (const json::object& each : webhook_configurations(made)) {
    ASSERT_EQ(each.at("webhooks").as_array().size(), 5U);
    const json::object& first = webhook(each, 2);
    EXPECT_EQ(first.at("name"), "x.plugins.sluice.dev");
    EXPECT_EQ(first.at("failurePolicy"), "Fail");
    EXPECT_EQ(json::serialize(first.at("rules")),
              R"([{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],)"
              R"("resources":["pods"],"scope":"Namespaced"}])");
    EXPECT_EQ(json::serialize(first.at("namespaceSelector").at("matchExpressions").at(0)),
              R"({"key":"kubernetes.io/metadata.name","operator":"NotIn",)"
              R"("values":["kube-system","sluice-system","quiet"]})");
    EXPECT_EQ(json::serialize(first.at("objectSelector")),
              R"({"matchExpressions":[{"key":"example.com/a","operator":"Exists"},)"
              R"({"key":"b","operator":"DoesNotExist"}]})");
    const json::object& second = webhook(each, 3);
    EXPECT_EQ(second.at("name"), "x-2.plugins.sluice.dev");
    EXPECT_EQ(second.at("failurePolicy"), "Ignore");
    EXPECT_EQ(second.at("timeoutSeconds"), 2);
    EXPECT_EQ(json::serialize(second.at("matchConditions").as_array().back()),
              R"-({"name":"not-annotated","expression":"!(has(object.metadata.annotations) && )-"
              R"-('held' in object.metadata.annotations)"})-");
    const json::object& third = webhook(each, 4);
    EXPECT_EQ(third.at("name"), "y.plugins.sluice.dev");
    EXPECT_EQ(third.at("rules").at(0).at("resources").at(0), "deployments");
    EXPECT_FALSE(third.contains("objectSelector"));
  }
}

TEST(WebhookConfiguration, WhatNoSelectorOfAnApiServerSaysIsRefused) {
  const auto asked = asked_kinds({{"x", judged("Pod label:a>3")}}, test::scheme(), {});
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().text, "plugin x validates Pod: label: API servers know no > and <");
}

TEST(WebhookConfiguration, OneOutsideOfTheClusterHasAUrl) {
  WebhookPlan outside = plan(false);
  outside.place.url = "https://10.0.0.5:9443";
  EXPECT_EQ(json::serialize(webhook(webhook_configurations(outside)[1], 1).at("clientConfig")),
            R"({"url":"https://10.0.0.5:9443/validate"})");
  EXPECT_EQ(json::serialize(webhook_conversion(outside.place)),
            R"({"strategy":"Webhook","webhook":{"clientConfig":)"
            R"({"url":"https://10.0.0.5:9443/convert"},"conversionReviewVersions":["v1"]}})");
}

TEST(WebhookConfiguration, OnlyWhatDiffersIsConverted) {
  EXPECT_THAT(converted_definitions(test::scheme()),
              ElementsAre("admissionchecks.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io",
                          "cohorts.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io",
                          "workloads.kueue.x-k8s.io"));
}

}  // namespace
}  // namespace sluice::host
