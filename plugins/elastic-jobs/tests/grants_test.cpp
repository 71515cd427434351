// How many pods of a job may start, by what its slice says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sluice/testing.hpp>

namespace elastic {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using namespace sluice::testing;

FakeJob job_with(const FakeWorkload& slice) {
  FakeJob job;
  job.json = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train","namespace":"ns",
    "uid":"u","labels":{"kueue.x-k8s.io/queue-name":"lq"},
    "annotations":{"kueue.x-k8s.io/elastic-job":"true"}},"spec":{"parallelism":3}})";
  job.pod_sets[0].count = 3;
  job.workloads = {{&slice, sluice::Match::kSame}};
  return job;
}

// While it is being evicted its pods are told to end: another one would only come to end as well.
TEST(Grants, ASliceThatIsEvictedLetsNoFurtherPodStart) {
  FakeHost host;
  TestedPlugin plugin(host);
  FakeWorkload slice("ns", "job-train");
  slice.pod_sets[0].count = 3;
  EXPECT_THAT(plugin.pod_grants(job_with(slice)), ElementsAre(Pair(0, 0)));
  slice.admitted("cq");
  slice.pod_sets[0].granted_count = 3;
  EXPECT_THAT(plugin.pod_grants(job_with(slice)), ElementsAre(Pair(0, 3)));
  slice.condition("Evicted", "True", {"Preempted", {}, 0});
  EXPECT_THAT(plugin.pod_grants(job_with(slice)), ElementsAre(Pair(0, 0)));
}

}  // namespace
}  // namespace elastic
