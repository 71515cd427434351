#include "host/client/submit.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

Submission minimal() {
  Submission out;
  out.queue = "q";
  out.argv = {"./Train_v2.sh", "--x"};
  return out;
}

TEST(Submit, TheLeast) {
  const auto job = make_job(minimal());
  ASSERT_TRUE(job) << job.error().text;
  EXPECT_EQ(json::value(*job), json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"},"generateName":"train-v2-"},
    "spec":{"suspend":true,"parallelism":1,"completions":1,"backoffLimit":0,
      "template":{"spec":{"restartPolicy":"Never","containers":[
        {"name":"main","image":"host","command":["./Train_v2.sh","--x"]}]}}}})"));
}

TEST(Submit, EverythingAndTheServerTakesIt) {
  Submission all = minimal();
  all.ns = "team";
  all.name = "mine";
  all.working_dir = "/tmp";
  all.env = {{"A", "1"}};
  all.resources = {{"cpu", "2"}, {"memory", "1Gi"}};
  all.parallelism = 2;
  all.completions = 5;
  all.indexed = true;
  all.retries = 3;
  all.priority_class = "high";
  all.max_time = 90 * kSecond + 1;
  auto job = make_job(all);
  ASSERT_TRUE(job);
  EXPECT_EQ(json::value(*job), json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/priority-class":"high",
        "kueue.x-k8s.io/max-exec-time-seconds":"91"},"name":"mine","namespace":"team"},
    "spec":{"suspend":true,"parallelism":2,"completions":5,"backoffLimit":3,
      "completionMode":"Indexed",
      "template":{"spec":{"restartPolicy":"Never","containers":[
        {"name":"main","image":"host","command":["./Train_v2.sh","--x"],
         "env":[{"name":"A","value":"1"}],"workingDir":"/tmp",
         "resources":{"requests":{"cpu":"2","memory":"1Gi"},
                      "limits":{"cpu":"2","memory":"1Gi"}}}]}}}})"));
  const api::Scheme scheme;
  const api::Outcome outcome = scheme.admit(*job);
  EXPECT_TRUE(outcome.ok()) << outcome.error_text();
}

TEST(Submit, NamesComeFromPrograms) {
  for (const auto& [program, name] :
       {std::pair{"/usr/bin/python3", "python3-"}, std::pair{"a.b.c", "a-"},
        std::pair{"__X__y__", "x-y-"}, std::pair{"...", "job-"}}) {
    Submission submission = minimal();
    submission.argv = {program};
    const auto job = make_job(submission);
    ASSERT_TRUE(job);
    EXPECT_EQ(job->at("metadata").at("generateName").as_string(), name);
  }
}

TEST(Submit, MistakesAreNamed) {
  Submission submission = minimal();
  submission.resources = {{"cpu", "two"}};
  const auto job = make_job(submission);
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().text, "cpu: found \"two\"; allowed: an amount such as 2, 500m or 4Gi");
  submission = minimal();
  submission.parallelism = 0;
  EXPECT_FALSE(make_job(submission));
}

}  // namespace
}  // namespace sluice::host
