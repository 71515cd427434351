// What is made at another place, and what is read of it.
#include "../copies.hpp"

#include <gtest/gtest.h>

namespace clusters {
namespace {

using sluice::Json;

const Origin kOurs{"east", "uid-w", 3};

TEST(JobCopy, IsTheJobAsItsUserWroteIt) {
  const Json job = Json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"j","namespace":"team","uid":"1","resourceVersion":"9","generation":2,
      "labels":{"kueue.x-k8s.io/queue-name":"q","team":"a"},
      "annotations":{"note":"n","sluice.dev/started-with":"x","sluice.dev/runtime":"1h",
        "kubectl.kubernetes.io/last-applied-configuration":"{}"}},
    "spec":{"suspend":false,"managedBy":"kueue.x-k8s.io/multikueue","parallelism":2,
      "selector":{"matchLabels":{"controller-uid":"1"}},
      "template":{"metadata":{"labels":{"controller-uid":"1","app":"x"}},"spec":{}}},
    "status":{"active":2}})");
  EXPECT_EQ(job_copy(job, "w", kOurs), Json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"j","namespace":"team",
      "labels":{"kueue.x-k8s.io/queue-name":"q","team":"a",
        "kueue.x-k8s.io/multikueue-origin":"east",
        "kueue.x-k8s.io/prebuilt-workload-name":"w"},
      "annotations":{"note":"n","sluice.dev/runtime":"1h",
        "kueue.x-k8s.io/multikueue-origin-uid":"uid-w",
        "kueue.x-k8s.io/multikueue-origin-attempt":"3"}},
    "spec":{"suspend":true,"parallelism":2,
      "template":{"metadata":{"labels":{"app":"x"}},"spec":{}}}})"));
}

TEST(WorkloadCopy, HasNeitherStatusNorOwner) {
  const Json workload = Json::parse(R"({"metadata":{"name":"w","namespace":"team","uid":"uid-w",
      "labels":{"kueue.x-k8s.io/job-uid":"1"},"ownerReferences":[{"uid":"1"}],
      "annotations":{"sluice.dev/created-by":"eve"}},
    "spec":{"queueName":"q","podSets":[]},"status":{"clusterName":"x"}})");
  EXPECT_EQ(workload_copy(workload, kOurs),
            Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"w","namespace":"team",
      "labels":{"kueue.x-k8s.io/multikueue-origin":"east"},
      "annotations":{"kueue.x-k8s.io/multikueue-origin-uid":"uid-w",
        "kueue.x-k8s.io/multikueue-origin-attempt":"3"}},
    "spec":{"queueName":"q","podSets":[]}})"));
}

// 5 pods were asked for, 2 are the least, 3 were granted.
Json partial(const std::string& kind, int granted) {
  return Json::parse(R"({"metadata":{"name":"w","namespace":"team","uid":"uid-w",
      "ownerReferences":[{"apiVersion":"batch/v1","kind":")" +
                     kind + R"(","name":"j","uid":"1","controller":true}]},
    "spec":{"queueName":"q","podSets":[{"name":"main","count":5,"minCount":2,"template":{}}]},
    "status":{"admission":{"podSetAssignments":[{"name":"main","count":)" +
                     std::to_string(granted) + "}]}}}");
}

TEST(WorkloadCopy, OfAJobThatMayStartWithFewerPodsAsksForThoseThatWereGranted) {
  for (const int granted : {3, 5})
    EXPECT_EQ(*workload_copy(partial("Job", granted), kOurs).find("spec"),
              Json::parse(R"({"queueName":"q","podSets":[{"name":"main","count":)" +
                          std::to_string(granted) + R"(,"template":{}}]})"));
  // Of another kind the job cannot be changed with it.
  EXPECT_EQ(workload_copy(partial("RayJob", 3), kOurs).int_or("spec.podSets.0.count", 0), 5);
  EXPECT_TRUE(is_granted_less(partial("RayJob", 3)));
  EXPECT_FALSE(is_granted_less(partial("RayJob", 5)));
}

TEST(JobCopy, HasThePodsThatTheCopyOfItsWorkloadAsksFor) {
  struct Row {
    const char *annotations, *copied;
    int completions;
  };
  for (const Row& row :
       {Row{R"("kueue.x-k8s.io/job-min-parallelism":"2")", "{}", 10},
        Row{R"("kueue.x-k8s.io/job-min-parallelism":"2",
            "kueue.x-k8s.io/job-completions-equal-parallelism":"true")",
            R"({"kueue.x-k8s.io/job-completions-equal-parallelism":"true"})", 3}}) {
    Json job = Json::parse(std::string(R"({"kind":"Job","metadata":{"annotations":{)") +
                           row.annotations + R"(}},"spec":{"parallelism":5,"completions":10}})");
    take_granted(job, partial("Job", 3));
    EXPECT_EQ(job.int_or("spec.parallelism", 0), 3);
    EXPECT_EQ(job.int_or("spec.completions", 0), row.completions);
    EXPECT_EQ(*job.find("metadata.annotations"), Json::parse(row.copied));
  }
}

TEST(JobCopy, OfOneThatMayNotStartWithFewerPodsKeepsItsSize) {
  Json workload = partial("Job", 3);  // two are over already, of an earlier start
  workload["spec"]["podSets"] = Json::parse(R"([{"name":"main","count":5}])");
  Json job = Json::parse(R"({"kind":"Job","spec":{"parallelism":5}})");
  take_granted(job, workload);
  EXPECT_EQ(job, Json::parse(R"({"kind":"Job","spec":{"parallelism":5}})"));
  EXPECT_EQ(workload_copy(workload, kOurs).int_or("spec.podSets.0.count", 0), 5);
}

TEST(ReadWorkload, KnowsWhatItIsACopyOf) {
  const Json copy = Json::parse(R"({"metadata":{"uid":"there",
      "ownerReferences":[{"name":"j","controller":true}],
      "finalizers":["kueue.x-k8s.io/resource-in-use"],
      "annotations":{"kueue.x-k8s.io/multikueue-origin-uid":"uid-w",
        "kueue.x-k8s.io/multikueue-origin-attempt":"3"}},
    "spec":{"priority":5},
    "status":{"conditions":[{"type":"QuotaReserved","status":"True"},
      {"type":"Evicted","status":"False"},
      {"type":"Finished","status":"True","reason":"Succeeded","message":"done"}]}})");
  const WorkloadCopy read = read_workload(copy, "uid-w");
  EXPECT_EQ(read.attempt, 3U);
  EXPECT_EQ(read.uid, "there");
  EXPECT_EQ(read.owner, "j");
  EXPECT_EQ(read.priority, 5);
  EXPECT_TRUE(read.reserved && read.finished && read.held);
  EXPECT_FALSE(read.admitted || read.stopped || read.deleting);
  EXPECT_EQ(read.reason + ": " + read.message, "Succeeded: done");
  EXPECT_EQ(read_workload(copy, "uid-other").attempt, 0U);
  EXPECT_EQ(read_workload(copy, "").attempt, 0U);
}

TEST(ReadJob, HasEndedWhenItSaysSo) {
  const auto read = [](const char* conditions) {
    return read_job(Json::parse(std::string(R"({"kind":"Job","status":{"conditions":)") +
                                conditions + "}}"),
                    "uid-w")
        .ended;
  };
  EXPECT_FALSE(read("[]"));
  EXPECT_FALSE(read(R"([{"type":"FailureTarget","status":"True"}])"));
  EXPECT_TRUE(read(R"([{"type":"Complete","status":"True"}])"));
  EXPECT_TRUE(read(R"([{"type":"Failed","status":"True"}])"));
}

TEST(ReadJob, KeepsTheStatusThatItWasReadWith) {
  const char* suspended = R"({"kind":"Job","spec":{"suspend":true},"status":{"active":0}})";
  EXPECT_EQ(read_job(Json::parse(suspended), "uid-w").status.int_or("active", 1), 0);
  EXPECT_EQ(read_job(Json::parse(R"({"kind":"Job"})"), "uid-w").status.size(), 0U);
}

TEST(StatusPatch, SetsWhatDiffersAndTakesAwayWhatIsGone) {
  const Json now = Json::parse(R"({"active":1,"ready":1,"same":{"a":[1]}})");
  const Json wanted = Json::parse(R"({"active":2,"same":{"a":[1]},"new":true})");
  EXPECT_EQ(*status_patch(now, wanted), Json::parse(R"({"active":2,"new":true,"ready":null})"));
  EXPECT_FALSE(status_patch(now, now));
}

}  // namespace
}  // namespace clusters
