// What is put into a job when it starts, and taken out again.
#include "host/controllers/jobs/start_info.hpp"

#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::HasSubstr;

boost::json::object admitted(const std::string& flavor, const std::string& updates = "",
                             const std::string& min_count = "", int count = 3) {
  return boost::json::parse(R"({"metadata":{"name":"w","uid":"u1"},"spec":{"podSets":[
      {"name":"main","count":3)" +
                            min_count + R"(}]},"status":{"admission":{
      "clusterQueue":"cq","podSetAssignments":[{"name":"main","count":)" +
                            std::to_string(count) + R"(,"flavors":{"cpu":")" + flavor +
                            R"("}}]},"admissionChecks":[)" + updates + "]}}")
      .get_object();
}

std::string check_update(const std::string& fields) {
  return R"({"name":"check","state":"Ready","podSetUpdates":[{"name":"main",)" + fields + "}]}";
}

/// The job stays as it is.
StartInfo started_with(const api::JobKind& kind, boost::json::object job) {
  return restore(kind, job);
}

TEST(StartInfo, WhatWasPutInComesOutAgain) {
  struct Case {
    std::string job;
    boost::json::object workload;
  };
  const std::string own = R"("nodeSelector":{"size":"small","disk":"ssd"},
      "tolerations":[{"key":"mine","operator":"Exists"}],)";
  const Case cases[] = {
      {JobWorld::job("a", 3, JobWorld::queued()), admitted("small")},
      {JobWorld::job("b", 3, JobWorld::queued(), "", own), admitted("small")},
      {JobWorld::job("c", 3, JobWorld::queued(), R"("kueue.x-k8s.io/job-min-parallelism":"1",
           "kueue.x-k8s.io/job-completions-equal-parallelism":"true")"),
       admitted("large", "", R"(,"minCount":1)", 2)},
      {JobWorld::job("d", 3, JobWorld::queued(), "", own),
       admitted("small", check_update(R"("labels":{"l":"1"},"annotations":{"a":"2"},
           "nodeSelector":{"zone":"z"},"tolerations":[{"key":"t","operator":"Exists"}])"))},
  };
  JobWorld world;
  const api::JobKind& kind = *api::builtin_job_kind("Job");
  for (const Case& c : cases) {
    const auto original = boost::json::parse(c.job).get_object();
    auto job = original;
    ASSERT_TRUE(inject(kind, job, c.workload, start_info(c.workload), world.objects).ok());
    EXPECT_NE(job, original);
    EXPECT_EQ(started_with(kind, job).workload_uid, "u1");
    EXPECT_TRUE(started_with(kind, job).same_place(start_info(c.workload)));
    restore(kind, job);
    if (original.at("metadata").at("annotations").get_object().empty())
      job["metadata"].get_object()["annotations"].emplace_object();
    EXPECT_EQ(job, original) << boost::json::serialize(job);
  }
}

TEST(StartInfo, WhatAnotherControllerPutInComesOutAgain) {
  JobWorld world;
  const api::JobKind& kind = *api::builtin_job_kind("Job");
  // As Kueue starts a job: it keeps no record, and the API server has labels of its own.
  const auto original = boost::json::parse(JobWorld::job("a", 3, JobWorld::queued())).get_object();
  const auto workload =
      admitted("small", check_update(R"("labels":{"l":"1"},"annotations":{"a":"2"})"));
  auto job = original;
  auto& pod_template = job["spec"].get_object()["template"].get_object();
  auto& spec = pod_template["spec"].get_object();
  spec["nodeSelector"] = boost::json::parse(R"({"size":"small"})");
  auto& metadata = pod_template["metadata"].emplace_object();
  metadata["labels"] = boost::json::parse(R"({"job-name":"a","l":"1",
      "kueue.x-k8s.io/podset":"main","kueue.x-k8s.io/cluster-queue-name":"cq"})");
  metadata["annotations"] = boost::json::parse(R"({"a":"2","kueue.x-k8s.io/workload":"w"})");
  ASSERT_TRUE(assume_started(kind, job, workload, world.objects));
  EXPECT_TRUE(started_with(kind, job).same_place(start_info(workload)));
  restore(kind, job);
  const auto& left = job["spec"].get_object()["template"].get_object();
  EXPECT_EQ(boost::json::serialize(left.at("metadata")), R"({"labels":{"job-name":"a"}})");
  EXPECT_FALSE(left.at("spec").get_object().contains("nodeSelector"));
}

// On a cluster Kueue stops what Sluice started, gives it its templates back and leaves the record.
TEST(StartInfo, ARecordEndsWithItsStart) {
  JobWorld world;
  const api::JobKind& kind = *api::builtin_job_kind("Job");
  const auto original =
      boost::json::parse(
          JobWorld::job("a", 3, JobWorld::queued(), R"("kueue.x-k8s.io/job-min-parallelism":"1")"))
          .get_object();
  const auto workload = admitted("small", "", R"(,"minCount":1)", 2);
  auto job = original;
  ASSERT_TRUE(inject(kind, job, workload, start_info(workload), world.objects).ok());
  job["spec"].get_object()["template"] = original.at("spec").at("template");
  job["spec"].get_object()["parallelism"] = 5;  // the user's, who was told of nothing
  EXPECT_EQ(started_with(kind, job).workload_uid, "");
  restore(kind, job);
  EXPECT_EQ(job.at("spec").at("parallelism"), 5);
  EXPECT_FALSE(
      job.at("metadata").at("annotations").get_object().contains("sluice.dev/started-with"));
}

// What another one had started, too: it tells its start by the time.
TEST(StartInfo, ARecordOfWhatRanAlreadyEndsWithThatRun) {
  JobWorld world;
  const api::JobKind& kind = *api::builtin_job_kind("Job");
  auto job = boost::json::parse(JobWorld::job("a", 3, JobWorld::queued())).get_object();
  job["spec"].get_object()["suspend"] = false;
  auto& spec = job["spec"].get_object()["template"].get_object()["spec"].get_object();
  spec["nodeSelector"] = boost::json::parse(R"({"size":"small"})");
  job["status"] = boost::json::parse(R"({"startTime":"2026-01-01T00:00:00Z"})");
  ASSERT_TRUE(assume_started(kind, job, admitted("small"), world.objects));
  EXPECT_EQ(started_with(kind, job).workload_uid, "u1");
  auto anew = job;
  anew["status"] = boost::json::parse(R"({"startTime":"2026-01-01T00:01:00Z"})");
  EXPECT_EQ(started_with(kind, anew).workload_uid, "");
  kind.set_suspended(anew, true);
  EXPECT_EQ(started_with(kind, anew).workload_uid, "u1") << "its template has the flavor's still";
  restore(kind, anew);
  EXPECT_FALSE(anew.at("spec").at("template").at("spec").get_object().contains("nodeSelector"));
}

TEST(StartInfo, AnotherPlaceIsAnotherStart) {
  const StartInfo small = start_info(admitted("small"));
  EXPECT_TRUE(small.same_place(start_info(admitted("small"))));
  EXPECT_FALSE(small.same_place(start_info(admitted("large"))));
  EXPECT_FALSE(
      small.same_place(start_info(admitted("small", check_update(R"("labels":{"l":"1"})")))));
  EXPECT_TRUE(small.same_place(start_info(admitted("small", "", "", 2))))
      << "counts matter only where the job may start with fewer pods";
  EXPECT_FALSE(start_info(admitted("small", "", R"(,"minCount":1)", 3))
                   .same_place(start_info(admitted("small", "", R"(,"minCount":1)", 2))));
}

TEST(StartInfo, WhatChecksWantDoesNotMakeOtherFlavors) {
  const StartInfo small = start_info(admitted("small"));
  EXPECT_TRUE(
      small.same_flavors(start_info(admitted("small", check_update(R"("labels":{"l":"1"})")))));
  EXPECT_FALSE(small.same_flavors(start_info(admitted("large"))));
}

TEST(StartInfo, APodThatWasMadeBeforeGetsWhatTheChecksWant) {
  const auto workload =
      admitted("small", check_update(R"("labels":{"l":"2"},"annotations":{"a":"2"},
                               "nodeSelector":{"zone":"z"},"tolerations":[{"key":"t"}])"));
  auto pod = boost::json::parse(R"({"metadata":{"labels":{"l":"1","own":"x"}},
                                   "spec":{"nodeSelector":{"size":"small"}}})")
                 .get_object();
  ASSERT_TRUE(update_pod(pod, workload, "main").ok());
  EXPECT_EQ(boost::json::serialize(pod),
            R"({"metadata":{"labels":{"l":"2","own":"x"},"annotations":{)"
            R"("kueue.x-k8s.io/workload":"w","a":"2"}},"spec":{"nodeSelector":{"size":"small",)"
            R"("zone":"z"},"tolerations":[{"key":"t"}]}})");
  pod["spec"].get_object()["nodeSelector"] = {{"zone", "other"}};
  EXPECT_FALSE(update_pod(pod, workload, "main").ok());
}

TEST(StartInfo, AnAdmissionThatContradictsTheJobIsRefused) {
  JobWorld world;
  const api::JobKind& kind = *api::builtin_job_kind("Job");
  auto job = boost::json::parse(JobWorld::job("a", 3, JobWorld::queued(), "",
                                              R"("nodeSelector":{"size":"large"},)"))
                 .get_object();
  const auto workload = admitted("small");
  const auto refused = inject(kind, job, workload, start_info(workload), world.objects);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text,
              HasSubstr("nodeSelector size of pod set main is \"large\", but the admission wants "
                        "\"small\""));
}

}  // namespace
}  // namespace sluice::host::test
