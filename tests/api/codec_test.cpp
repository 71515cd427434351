#include "api/codec/codec.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace sluice::api {
namespace {

boost::json::object object(const char* text) { return boost::json::parse(text).as_object(); }

TEST(PodTemplateCache, SharesEqualTemplates) {
  PodTemplateCache cache;
  const auto first = cache.get(object(R"({"spec":{"containers":[{"image":"a",
    "resources":{"requests":{"cpu":"1"}}}]}})"));
  const auto second = cache.get(object(R"({"spec":{"containers":[{"image":"b",
    "resources":{"requests":{"cpu":"1"}}}]}})"));
  const auto third = cache.get(object(R"({"spec":{"containers":[{"image":"b",
    "resources":{"requests":{"cpu":"2"}}}]}})"));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, third);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(PodTemplateCache, ForgetsWhatNobodyHolds) {
  PodTemplateCache cache;
  for (int i = 0; i < 10'000; ++i) {
    boost::json::object pod = object(R"({"metadata":{"annotations":{}},"spec":{}})");
    pod["metadata"].as_object()["annotations"].as_object()["n"] = std::to_string(i);
    cache.get(pod);
  }
  EXPECT_LE(cache.size(), 2048u);
}

TEST(Codec, ReadsAClusterQueue) {
  const ClusterQueue queue = decode_cluster_queue(object(R"({
    "metadata":{"name":"cq","labels":{"a":"b"},"uid":"u",
                "creationTimestamp":"1970-01-01T00:00:01Z"},
    "spec":{"cohortName":"all","queueingStrategy":"StrictFIFO","stopPolicy":"Hold",
      "namespaceSelector":{"matchExpressions":[{"key":"t","operator":"NotIn","values":["x"]}]},
      "fairSharing":{"weight":"500m"},
      "preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority","reclaimWithinCohort":"Any",
        "borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":100}},
      "admissionChecksStrategy":{"admissionChecks":[{"name":"c","onFlavors":["f"]}]},
      "resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[{"name":"f","resources":[
        {"name":"cpu","nominalQuota":"9","borrowingLimit":0},
        {"name":"memory","nominalQuota":"1Gi","lendingLimit":"1Mi"}]}]}]}})"));
  EXPECT_EQ(queue.meta.name, "cq");
  EXPECT_EQ(queue.meta.creation_time, kSecond);
  EXPECT_EQ(queue.cohort, "all");
  EXPECT_EQ(queue.strategy, QueueingStrategy::kStrictFifo);
  EXPECT_EQ(queue.stop_policy, StopPolicy::kHold);
  EXPECT_EQ(queue.fair_weight.milli(), 500);
  ASSERT_TRUE(queue.namespace_selector.has_value());
  EXPECT_TRUE(queue.namespace_selector->matches({}));
  EXPECT_EQ(queue.preemption.within_cluster_queue, WithinClusterQueue::kLowerOrNewerEqualPriority);
  EXPECT_EQ(queue.preemption.reclaim_within_cohort, ReclaimWithinCohort::kAny);
  EXPECT_TRUE(queue.preemption.borrow_within_cohort);
  EXPECT_EQ(queue.preemption.max_priority_threshold, 100);
  ASSERT_EQ(queue.admission_checks.size(), 1u);
  EXPECT_EQ(queue.admission_checks[0].on_flavors, std::vector<std::string>{"f"});
  ASSERT_EQ(queue.resource_groups.size(), 1u);
  const auto& resources = queue.resource_groups[0].flavors[0].resources;
  EXPECT_EQ(resources[0].nominal.milli(), 9000);
  ASSERT_TRUE(resources[0].borrowing_limit.has_value());
  EXPECT_TRUE(resources[0].borrowing_limit->is_zero());
  EXPECT_FALSE(resources[0].lending_limit.has_value());
  EXPECT_EQ(resources[1].lending_limit->units(), 1 << 20);
}

TEST(Codec, AnAbsentSelectorIsNotAnEmptyOne) {
  EXPECT_FALSE(decode_cluster_queue(object(R"({"spec":{}})")).namespace_selector.has_value());
  EXPECT_TRUE(decode_cluster_queue(object(R"({"spec":{"namespaceSelector":{}}})"))
                  .namespace_selector.has_value());
}

constexpr const char* kStatus = R"({
  "admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main",
    "flavors":{"cpu":"f"},"resourceUsage":{"cpu":"1500m","memory":"1Ki"},"count":3}]},
  "conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"m",
    "lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":2}],
  "reclaimablePods":[{"name":"main","count":1}],
  "admissionChecks":[{"name":"c","state":"Pending","lastTransitionTime":"2026-01-01T00:00:00Z",
    "message":"","reason":"PreemptionRequired","requeueAfterSeconds":5,"retryCount":1}],
  "requeueState":{"count":2,"requeueAt":"2026-01-01T00:00:09Z"},
  "schedulingStats":{"evictions":[{"reason":"Preempted","underlyingCause":"","count":4}]},
  "accumulatedPastExecutionTimeSeconds":7})";

TEST(Codec, AWorkloadStatusComesBackAsItWas) {
  const boost::json::object before = object(kStatus);
  EXPECT_EQ(workload_status_text(decode_workload_status(before)), to_json(before));
  EXPECT_EQ(workload_status_text(decode_workload_status(before), to_json(before)), to_json(before));
  EXPECT_EQ(workload_status_text({}), "");
}

TEST(Codec, EncodingKeepsWhatTheStructDoesNotHold) {
  boost::json::object status = object(kStatus);
  status["unhealthyNodes"] = boost::json::array{};
  boost::json::object& check = status["admissionChecks"].as_array()[0].as_object();
  check["podSetUpdates"] = boost::json::array{boost::json::object{{"name", "main"}}};
  check["elsewhere"] = 1;
  WorkloadStatus decoded = decode_workload_status(status);
  decoded.requeue_state.reset();
  decoded.admission_checks[0].reason.clear();

  const boost::json::object encoded =
      object(workload_status_text(decoded, to_json(status)).c_str());
  EXPECT_TRUE(encoded.contains("unhealthyNodes"));
  EXPECT_FALSE(encoded.contains("requeueState"));
  const auto& entry = encoded.at("admissionChecks").as_array()[0].as_object();
  EXPECT_TRUE(entry.contains("elsewhere"));
  EXPECT_EQ(entry.at("podSetUpdates"), check.at("podSetUpdates"));
  EXPECT_FALSE(entry.contains("reason"));
}

TEST(Codec, AdmissionCheck) {
  struct Case {
    const char* text;
    bool active, preempt_after;
    std::optional<std::int32_t> delay;
  };
  const Case cases[] = {
      {R"({"spec":{"controllerName":"c"}})", true, false, {}},
      {R"({"spec":{"controllerName":"c","preemptionPolicy":"AfterCheckPassedOrOnDemand"},
           "status":{"conditions":[{"type":"Active","status":"False"}]}})",
       false,
       true,
       {}},
      {R"({"spec":{"controllerName":"c","preemptionPolicy":"Anytime"},
           "status":{"conditions":[{"type":"Active","status":"Unknown"}]}})",
       true,
       false,
       {}},
      // v1beta1's retryDelayMinutes, as the conversion to v1beta2 keeps it.
      {R"({"metadata":{"annotations":{
           "sluice.dev/v1beta1-fields":"{\"spec.retryDelayMinutes\":2}"}},
           "spec":{"controllerName":"c"}})",
       true, false, 120},
      {R"({"metadata":{"annotations":{"sluice.dev/v1beta1-fields":"no json"}},
           "spec":{"controllerName":"c"}})",
       true,
       false,
       {}},
  };
  for (const Case& each : cases) {
    const AdmissionCheck check = decode_admission_check(object(each.text));
    EXPECT_EQ(check.active, each.active) << each.text;
    EXPECT_EQ(check.preempt_after_check, each.preempt_after) << each.text;
    EXPECT_EQ(check.retry_delay_seconds, each.delay) << each.text;
  }
}

TEST(Codec, EngineUnits) {
  EXPECT_EQ(engine_amount("cpu", *Quantity::parse("1.5")), 1500);
  EXPECT_EQ(engine_amount("memory", *Quantity::parse("1.5")), 2);
  EXPECT_EQ(engine_quantity("cpu", 1500).text(), "1500m");
  EXPECT_EQ(engine_quantity("example.com/gpu", 8).text(), "8");
}

}  // namespace
}  // namespace sluice::api
