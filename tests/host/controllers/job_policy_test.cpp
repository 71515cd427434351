// What a write of a job may say.
#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

using ::testing::HasSubstr;

TEST(JobPolicy, JobsWithAQueueStartSuspended) {
  JobWorld world;
  struct Case {
    std::string labels;
    const char* suspend;
  };
  for (const auto& [labels, suspend] :
       {Case{JobWorld::queued("nowhere"), "true"},
        Case{R"("kueue.x-k8s.io/prebuilt-workload-name":"w")", "true"}, Case{"", "false"}}) {
    const std::string name = "j" + std::to_string(labels.size());
    world.submit(JobWorld::job(name, 1, labels));
    EXPECT_EQ(world.job_at(name, "/spec/suspend"), suspend) << labels;
  }
}

TEST(JobPolicy, TheQueueNamedDefaultTakesJobsThatNameNone) {
  JobWorld world;
  world.queue("more", "default", "9", "9");
  world.submit(JobWorld::job("train", 1, ""));
  EXPECT_EQ(world.job_at("train", "/metadata/labels/kueue.x-k8s.io~1queue-name"), "default");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(world.workloads().size(), 1u);
}

TEST(JobPolicy, RefusesWhatMakesNoSense) {
  struct Case {
    std::string labels, annotations, text;
  };
  const Case cases[] = {
      {JobWorld::queued() + R"(,"kueue.x-k8s.io/max-exec-time-seconds":"soon")", "",
       "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"soon\""},
      {JobWorld::queued() + R"(,"kueue.x-k8s.io/max-exec-time-seconds":"0")", "", "greater than 0"},
      {JobWorld::queued("Main"), "",
       "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"Main\": a lowercase RFC 1123 "
       "subdomain must consist of lower case alphanumeric characters"},
      {JobWorld::queued("team_a"), "", "Invalid value: \"team_a\": a lowercase RFC 1123 subdomain"},
      {R"("kueue.x-k8s.io/prebuilt-workload-name":"Mine")", "",
       "metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"Mine\": a lower"},
      {"", R"("kueue.x-k8s.io/prebuilt-workload-name":"Mine")",
       "metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"Mine\""},
      {JobWorld::queued(), R"("kueue.x-k8s.io/job-min-parallelism":"-1")", "greater than 0"},
      {JobWorld::queued(), R"("kueue.x-k8s.io/job-min-parallelism":"2")", "between 0 and 1"},
      {JobWorld::queued(), R"("kueue.x-k8s.io/job-completions-equal-parallelism":"maybe")",
       "should be true or false"},
  };
  JobWorld world;
  for (const Case& c : cases) {
    const auto done = world.create("jobs", JobWorld::job("j", 2, c.labels, c.annotations));
    ASSERT_FALSE(done.ok()) << c.text;
    EXPECT_EQ(done.error().code, 422);
    EXPECT_THAT(done.error().text, HasSubstr(c.text));
  }
}

TEST(JobPolicy, WhatDecidedAboutARunningJobStays) {
  JobWorld world;
  world.submit(
      JobWorld::job("train", 2, JobWorld::queued(), R"("kueue.x-k8s.io/job-min-parallelism":"1")"));
  ASSERT_TRUE(world.runs("train"));
  for (const char* label :
       {R"("kueue.x-k8s.io/queue-name":"x")", R"("kueue.x-k8s.io/prebuilt-workload-name":"x")",
        R"("kueue.x-k8s.io/max-exec-time-seconds":"60")"}) {
    const auto done =
        world.merge("jobs", "train", R"({"metadata":{"labels":{)" + std::string(label) + "}}}");
    ASSERT_FALSE(done.ok()) << label;
    EXPECT_THAT(done.error().text, HasSubstr("immutable while the job is not suspended"));
  }
  const auto resized =
      world.merge("jobs", "train", R"({"spec":{"parallelism":1,"completions":1}})");
  ASSERT_FALSE(resized.ok());
  EXPECT_THAT(resized.error().text,
              HasSubstr("spec.parallelism: Forbidden: cannot change when partial admission is "
                        "enabled and the job is not suspended"));
  EXPECT_TRUE(world.merge("jobs", "train", R"({"metadata":{"labels":{"team":"a"}}})").ok());
}

// Of twelve pods of one CPU each at most eight fit into one flavor. Why their number stays is said
// once.
TEST(JobPolicy, TheCountOfOneThatRunsWithFewerPodsStays) {
  JobWorld world;
  world.submit(JobWorld::job("train", 12, JobWorld::queued(),
                             R"("kueue.x-k8s.io/job-min-parallelism":"1")"));
  ASSERT_TRUE(world.runs("train"));
  ASSERT_NE(world.job_at("train", "/spec/parallelism"), "12");
  const auto resized = world.merge("jobs", "train", R"({"spec":{"parallelism":2}})");
  ASSERT_FALSE(resized.ok());
  EXPECT_THAT(resized.error().text,
              HasSubstr("spec.parallelism: Forbidden: cannot change while the job runs with fewer "
                        "pods than it asked for"));
  EXPECT_THAT(resized.error().text, ::testing::Not(HasSubstr("partial admission")));
}

TEST(JobPolicy, AQueueIsNotTakenFromARunningJobNorWhereTheDefaultOneWouldTakeIt) {
  JobWorld world;
  const std::string_view without = R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":null}}})";
  world.submit(JobWorld::job("runs", 1, JobWorld::queued()));
  world.submit(JobWorld::job("waits", 1, JobWorld::queued("nowhere")));
  const auto taken = world.merge("jobs", "runs", without);
  ASSERT_FALSE(taken.ok());
  EXPECT_THAT(taken.error().text, HasSubstr("immutable while the job is not suspended"));
  world.queue("more", "default", "9", "9");
  const auto left = world.merge("jobs", "waits", without);
  ASSERT_FALSE(left.ok());
  EXPECT_THAT(left.error().text, HasSubstr("must not be empty in namespace with default queue"));
}

// Whoever writes a gate of the system into his template gets no pod by lifting it.
TEST(JobPolicy, AGateOfTheSystemIsNobodysOwn) {
  JobWorld world;
  const std::string gates =
      R"("schedulingGates":[{"name":"kueue.x-k8s.io/elastic-job"},{"name":"example.com/own"}],)";
  const std::string containers = R"("containers":[{"name":"c","image":"i"}])";
  ASSERT_TRUE(world.create("jobs", R"({"metadata":{"name":"g"},"spec":{"suspend":true,"template":{
      "spec":{"restartPolicy":"Never",)" +
                                       gates + containers + "}}}}"));
  const std::string uid = at(world.get("jobs", "default/g"), "/metadata/uid");
  world.apply(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default",
      "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"g","controller":true,
      "uid":")" +
              uid + "\"}]},\"spec\":{" + gates + containers + "}}");
  EXPECT_TRUE(world.merge(
      "pods", "p", R"({"spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/elastic-job"}]}})"));
  const auto lifted = world.merge("pods", "p", R"({"spec":{"schedulingGates":null}})");
  ASSERT_FALSE(lifted);
  EXPECT_THAT(lifted.error().text, HasSubstr("is lifted by the system"));
}

// An owner that its user names does not spare a job the queue that all others get.
TEST(JobPolicy, TheQueueNamedDefaultTakesJobsWhoseOwnerAUserNamed) {
  JobWorld world;
  world.queue("more", "default", "9", "9");
  world.submit(JobWorld::job("parent", 1, JobWorld::queued()));
  const std::string uid = at(world.get("jobs", "default/parent"), "/metadata/uid");
  for (const auto& [user, queue] :
       {std::pair{"jane", "default"}, {"system:serviceaccount:operators:a", "(absent)"}}) {
    WriteRequest request =
        world.request(WriteVerb::kCreate, "jobs", "", R"({"metadata":{"generateName":"child-",
        "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"parent","controller":true,
        "uid":")" + uid + R"("}]},"spec":{"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}})");
    request.user = user;
    const auto done = world.machine.write(std::move(request));
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_EQ(at(to_object(done->object), "/metadata/labels/kueue.x-k8s.io~1queue-name"), queue);
  }
}

TEST(JobPolicy, AClassCanBecomeAnotherButNotNone) {
  struct Case {
    const char* queue;  // "lq" has room, "nowhere" is not there
    const char* before;
    const char* after;
    const char* refusal;  // "": none
  };
  const Case cases[] = {
      {"lq", R"("high")", R"("low")", ""},
      {"nowhere", R"("high")", R"("low")", ""},
      {"lq", R"("high")", "null", "cannot be removed"},
      {"nowhere", R"("high")", "null", "cannot be removed"},
      {"lq", "", R"("low")", "cannot be added while the job is not suspended"},
      {"nowhere", "", R"("low")", ""},
  };
  for (const Case& c : cases) {
    JobWorld world;
    for (const std::string name : {"high", "low"})
      world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
        "metadata":{"name":")" +
                  name + R"("},"value":1})");
    const std::string label = R"("kueue.x-k8s.io/priority-class":)";
    const std::string labels = JobWorld::queued(c.queue);
    world.submit(JobWorld::job("train", 1, *c.before ? labels + "," + label + c.before : labels));
    const auto done =
        world.merge("jobs", "train", R"({"metadata":{"labels":{)" + label + c.after + "}}}");
    EXPECT_EQ(done.ok(), !*c.refusal) << c.before << " to " << c.after << " in " << c.queue;
    EXPECT_THAT(done.ok() ? "" : done.error().text, HasSubstr(c.refusal));
  }
}

// The job starts again at once: what its workload holds, it got without the class.
TEST(JobPolicy, AClassMayComeWithTheSuspension) {
  JobWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
    "metadata":{"name":"high"},"value":1})");
  world.submit(JobWorld::job("train", 1, JobWorld::queued()));
  world.change("jobs", "train", R"({"spec":{"suspend":true},
    "metadata":{"labels":{"kueue.x-k8s.io/priority-class":"high"}}})");
  EXPECT_TRUE(world.runs("train"));
  EXPECT_EQ(part(part(world.workload(world.only_workload()), "spec"), "priorityClassRef").size(),
            0U);
}

}  // namespace
}  // namespace sluice::host::test
