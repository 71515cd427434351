// Jobs that name a workload which somebody made before them, with the real engine.
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PrebuiltWorkload, TheAnnotationNamesItBeforeTheLabel) {
  JobWorld world;
  world.submit(JobWorld::job(
      "train", 2, JobWorld::queued() + R"(,"kueue.x-k8s.io/prebuilt-workload-name":"other")",
      R"("kueue.x-k8s.io/prebuilt-workload-name":"mine")"));
  EXPECT_THAT(world.workloads(), IsEmpty());
  EXPECT_THAT(world.log.lines,
              Contains("Job PrebuiltWorkloadNotFound: The prebuilt workload mine doesn't exist"));
}

TEST(PrebuiltWorkload, IsTakenOverAndSpeaksForTheJob) {
  const std::string labels =
      JobWorld::queued() + R"(,"kueue.x-k8s.io/prebuilt-workload-name":"mine")";
  const auto prebuilt = [](int count) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"mine",
               "namespace":"default"},"spec":{"queueName":"lq",
               "podSets":[{"name":"main","count":)" +
           std::to_string(count) + R"(,"template":{"spec":{"restartPolicy":"Never","containers":[
               {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})";
  };
  JobWorld world;
  world.submit(JobWorld::job("train", 2, labels));
  EXPECT_FALSE(world.runs("train")) << "its workload does not exist";
  EXPECT_THAT(world.workloads(), IsEmpty());
  world.change("jobs", "train", R"({"metadata":{"annotations":{"looked":"at again"}}})");
  EXPECT_EQ(std::count(world.log.lines.begin(), world.log.lines.end(),
                       "Job PrebuiltWorkloadNotFound: The prebuilt workload mine doesn't exist"),
            1);
  world.apply(prebuilt(2));
  world.settle();
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(at(world.workload("mine"), "/metadata/ownerReferences/0/name"), "train");
  EXPECT_THAT(world.workloads(), ElementsAre("mine"));

  JobWorld other;
  other.apply(prebuilt(3));
  other.submit(JobWorld::job("train", 2, labels));
  EXPECT_FALSE(other.runs("train"));
  EXPECT_EQ(at(other.workload("mine"), "/metadata/ownerReferences"), "(absent)");
  EXPECT_EQ(at(other.workload("mine"), "/status/conditions/0/type"), "QuotaReserved")
      << "whoever only names a workload does not end it";

  // Once it is the job's, a job that changes ends it.
  world.change("jobs", "train", R"({"spec":{"parallelism":1}})");
  world.settle();
  EXPECT_EQ(world.condition("mine", "Finished"),
            "True OutOfSync: The prebuilt workload is out of sync with its user job");
}

}  // namespace
}  // namespace sluice::host::test
