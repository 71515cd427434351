// Jobs that may change their size: which of their workloads are looked at together.
#include "world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clusters {
namespace {

using ::testing::ElementsAre;

/// The job may change its size; it runs at b with the workload w.
class ElasticWorld : public World {
 public:
  ElasticWorld() {
    const std::string elastic =
        R"({"metadata":{"annotations":{"kueue.x-k8s.io/elastic-job":"true"},)"
        R"("labels":{"kueue.x-k8s.io/job-uid":"uid-j"}}})";
    for (const auto& [kind, name] : {std::pair("Job", "j"), std::pair("Workload", "w")})
      merge(kind, name, elastic);
    begin();
    settle();
    reserve("b");
    settle();
    merge("Workload", "w", R"({"status":{"clusterName":"b","admissionChecks":[
      {"name":"clusters","state":"Ready"}]}})",
          "status");
  }
  void merge(const char* kind, const char* name, const std::string& patch,
             const char* subresource = "") {
    std::string out;
    host.objects().patch(kind, "team", name, subresource, Json::parse(patch), out);
  }
  /// A second workload of the job, which took the place of w.
  void put_grown() {
    Json grown = workload();
    grown["metadata"]["name"] = "w2";
    grown["metadata"]["uid"] = "uid-w2";
    grown["metadata"]["annotations"]["kueue.x-k8s.io/workload-slice-replacement-for"] = "team/w";
    host.objects().put(std::move(grown));
    merge("Workload", "w", R"({"status":{"conditions":[{"type":"QuotaReserved","status":"False"},
      {"type":"Finished","status":"True","reason":"WorkloadSliceReplaced"}]}})",
          "status");
  }
};

TEST(Elastic, TheWorkloadsOfAJobAreListedOnce) {
  ElasticWorld world;
  const std::int64_t lists = world.host.objects().lists();
  EXPECT_EQ(lists, 1);
  for (int i = 0; i < 10; ++i) world.plugin.reconcile({kVersion, "Workload", "team", "w"});
  world.at("b", "Job", R"({"status":{"active":1}})", "j");
  EXPECT_EQ(world.host.objects().lists(), lists);
}

TEST(Elastic, OneThatWasReplacedLeavesTheJobToTheOther) {
  ElasticWorld world;
  world.put_grown();
  world.plugin.begin_check(FakeWorkload("team", "w2"),
                           {.check = "clusters", .check_json = kCheck, .attempt = 2});
  world.plugin.reconcile({kVersion, "Workload", "team", "w"});
  world.settle();
  EXPECT_THAT(world.there("b"), ElementsAre("Job j", "Workload w"));
}

TEST(Elastic, ThatOneGoesOnIsKnownAfterAStartBeforeAnybodyTellsOfIt) {
  ElasticWorld world;
  world.put_grown();
  TestedPlugin again(world.host, R"({"workerLostTimeoutSeconds":60})");
  again.check_changed("clusters", kCheck);
  for (const char* name : {"a", "b"}) again.reconcile({kVersion, "MultiKueueCluster", "", name});
  again.reconcile({kVersion, "Workload", "team", "w"});  // the one that was replaced is the first
  EXPECT_TRUE(world.host.remotes().waiting().empty());
  EXPECT_THAT(world.there("b"), ElementsAre("Job j", "Workload w"));
}

}  // namespace
}  // namespace clusters
