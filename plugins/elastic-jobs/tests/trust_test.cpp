// A user's object is no authority (finding A3): whatever a tenant writes on jobs, workloads and
// pods, no other tenant loses anything, and nothing runs that has no quota.
#include <random>
#include <set>

#include "elastic_world.hpp"

namespace elastic::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string workload_text(const std::string& name, int count, const std::string& metadata) {
  return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" + name +
         "\"" + metadata + R"(},"spec":{"queueName":"lq","podSets":[{"name":"main","count":)" +
         std::to_string(count) +
         R"(,"template":{"spec":{"tolerations":[{"key":"own","operator":"Exists"}],
           "restartPolicy":"Never","containers":[{"name":"c","image":"i",
           "resources":{"requests":{"cpu":"1"}}}]}}}]}})";
}

TEST(A3UsersObjectIsNoAuthority, AJobDoesNotSayWhoseWorkloadItEnds) {
  ElasticWorld world;
  world.queue("4", "0");
  ASSERT_EQ(world.send(WriteVerb::kCreate, "workloads", "", workload_text("victim", 4, "")), "");
  // As in the finding: 4 of 4 are taken, and the other job wants 4.
  world.submit(ElasticWorld::job_text(
      "evil", 4,
      std::string(ElasticWorld::kElastic) +
          R"(,"kueue.x-k8s.io/workload-slice-replacement-for":"default/victim")"));
  EXPECT_THAT(world.slices("evil"), ElementsAre("pending 4"));
  EXPECT_EQ(ElasticWorld::state(world.get("workloads", "default/victim")), "admitted");
  EXPECT_THAT(world.running("evil"), SizeIs(0));
  const auto slice = world.get("workloads", "default/" + world.slice("evil", "pending 4"));
  EXPECT_EQ(ElasticWorld::at(slice,
                             "/metadata/annotations/"
                             "kueue.x-k8s.io~1workload-slice-replacement-for"),
            "");
}

TEST(A3UsersObjectIsNoAuthority, AWorkloadDoesNotEither) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("victim", 4));
  const std::string slice = world.slice("victim", "admitted 4");
  const std::string marks = R"(,"annotations":{"kueue.x-k8s.io/elastic-job":"true",
      "kueue.x-k8s.io/workload-slice-replacement-for":"default/)" +
                            slice + "\"}";
  ASSERT_EQ(world.send(WriteVerb::kCreate, "workloads", "", workload_text("evil", 4, marks)), "");
  EXPECT_THAT(world.slices("victim"), ElementsAre("admitted 4"));
  EXPECT_EQ(ElasticWorld::state(world.get("workloads", "default/evil")), "pending");
  world.change("workloads", "evil", "{\"metadata\":{" + marks.substr(1) + "}}");
  EXPECT_THAT(world.slices("victim"), ElementsAre("admitted 4"));
  EXPECT_EQ(ElasticWorld::at(world.get("workloads", "default/evil"),
                             "/metadata/annotations/"
                             "kueue.x-k8s.io~1workload-slice-replacement-for"),
            "");
}

// Even where it came in unchecked, from a store or a dump: unrelated workloads do not replace each
// other.
TEST(A3UsersObjectIsNoAuthority, WhatIsBelievedStaysWithinOneJob) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("victim", 4));
  world.submit(ElasticWorld::job_text("evil", 4));
  auto evil = world.get("workloads", "default/" + world.slice("evil", "pending 4"));
  evil.at("metadata")
      .at("annotations")
      .get_object()["kueue.x-k8s.io/workload-slice-replacement-for"] =
      "default/" + world.slice("victim", "admitted 4");
  ASSERT_TRUE(world.access().update(evil).ok());
  world.settle();
  EXPECT_THAT(world.slices("victim"), ElementsAre("admitted 4"));
  EXPECT_THAT(world.slices("evil"), ElementsAre("pending 4"));
}

TEST(A3UsersObjectIsNoAuthority, NobodyMakesAWorkloadForAnothersJob) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("victim", 2));
  const auto job = world.get("jobs", "default/victim");
  const std::string owner = R"(,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",
      "name":"victim","controller":true,"uid":")" +
                            ElasticWorld::at(job, "/metadata/uid") + "\"}]";
  EXPECT_THAT(world.send(WriteVerb::kCreate, "workloads", "", workload_text("evil", 1, owner)),
              HasSubstr("metadata.ownerReferences[0]: Forbidden: only the system makes workloads"));
  ASSERT_EQ(world.send(WriteVerb::kCreate, "workloads", "", workload_text("evil", 1, "")), "");
  EXPECT_THAT(world.send(WriteVerb::kPatch, "workloads", "evil",
                         "{\"metadata\":{" + owner.substr(1) + "}}"),
              HasSubstr("metadata.ownerReferences[0]: Forbidden"));
  EXPECT_THAT(world.slices("victim"), ElementsAre("admitted 2"));
  EXPECT_THAT(world.running("victim"), SizeIs(2));
}

// The record says what the job's own counts are: a user who could write it could run ten pods on
// quota for one.
TEST(A3UsersObjectIsNoAuthority, TheRecordOfAStartIsTheHosts) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 2, ""));
  const auto record = [&world] {
    return ElasticWorld::at(world.get("jobs", "default/train"),
                            "/metadata/annotations/sluice.dev~1started-with");
  };
  const std::string before = record();
  ASSERT_NE(before, "");
  world.change("jobs", "train", R"({"metadata":{"annotations":{"sluice.dev/started-with":"{}"}}})");
  EXPECT_EQ(record(), before);
  world.change("jobs", "train", R"({"metadata":{"annotations":null}})");
  EXPECT_EQ(record(), before);
  ASSERT_EQ(world.send(WriteVerb::kCreate, "jobs", "",
                       ElasticWorld::job_text("fresh", 9, R"("sluice.dev/started-with":"{}")")),
            "");
  EXPECT_TRUE(world.suspended("fresh"));
}

TEST(A3UsersObjectIsNoAuthority, AGateIsLiftedByTheSystemOnly) {
  ElasticWorld world;
  world.queue("3", "0");
  world.submit(ElasticWorld::job_text("train", 3));
  world.resize("train", 5);
  ASSERT_EQ(world.gated("train"), 2u);
  for (const auto& pod : world.pods("train")) {
    if (!pod.gated) continue;
    EXPECT_THAT(
        world.send(WriteVerb::kPatch, "pods", pod.name, R"({"spec":{"schedulingGates":null}})"),
        HasSubstr("spec.schedulingGates: Forbidden: gate kueue.x-k8s.io/elastic-job is "
                  "lifted by the system, when the workload of Job train has quota"));
    // Counted to another pod set it would be let go in that one's place.
    world.change("pods", pod.name, R"({"metadata":{"labels":{"kueue.x-k8s.io/podset":"other"}}})");
  }
  world.run_pods();
  EXPECT_THAT(world.running("train"), SizeIs(3));
  for (const auto& pod : world.pods("train")) EXPECT_EQ(pod.set, "main");
}

TEST(A3UsersObjectIsNoAuthority, AFinishedWorkloadLeavesNoJobRunning) {
  ElasticWorld world;
  world.queue("4", "0");
  world.submit(ElasticWorld::job_text("train", 2, ""));
  const std::string name = world.slice_names("train")[0];
  world.send(WriteVerb::kPatch, "workloads", name,
             R"({"status":{"conditions":[{"type":"Finished","status":"True","reason":"Done",
                 "message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
             "status");
  world.run_pods();
  EXPECT_EQ(world.cpus(), 0);
  EXPECT_TRUE(world.suspended("train"));
  EXPECT_THAT(world.running("train"), SizeIs(0));
}

TEST(A3UsersObjectIsNoAuthority, AJobDoesNotEndAWorkloadThatItNames) {
  ElasticWorld world;
  world.queue("9", "0");
  ASSERT_EQ(world.send(WriteVerb::kCreate, "workloads", "", workload_text("victim", 4, "")), "");
  std::string evil = ElasticWorld::job_text("evil", 1, "");
  evil.insert(evil.find(R"("kueue.x-k8s.io/queue-name")"),
              R"("kueue.x-k8s.io/prebuilt-workload-name":"victim",)");
  ASSERT_EQ(world.send(WriteVerb::kCreate, "jobs", "", evil), "");
  EXPECT_EQ(ElasticWorld::state(world.get("workloads", "default/victim")), "admitted");
  EXPECT_TRUE(world.suspended("evil"));
  EXPECT_THAT(world.events.lines,
              ::testing::Contains("Job default/evil ErrWorkloadCompose: The prebuilt workload "
                                  "victim has other pod sets than the job"));
}

// ---- random ownership graphs

class Tenant {
 public:
  Tenant(ElasticWorld& world, std::uint32_t seed) : world_(world), random_(seed) {}

  void act() {
    switch (random_() % 6) {
      case 0:
        world_.send(WriteVerb::kCreate, "jobs", "",
                    job("j" + std::to_string(made_++), static_cast<int>(1 + random_() % 3)));
        break;
      case 1:
        world_.send(WriteVerb::kCreate, "workloads", "",
                    workload_text("w" + std::to_string(made_++),
                                  static_cast<int>(1 + random_() % 3), metadata()));
        break;
      case 2:
        world_.send(WriteVerb::kPatch, "workloads", own("workloads"),
                    R"({"metadata":{"x":0)" + metadata() + "}}");
        break;
      case 3:
        world_.send(WriteVerb::kPatch, "jobs", own("jobs"),
                    R"({"metadata":{"x":0)" + metadata() + "}}");
        break;
      case 4:
        world_.send(WriteVerb::kPatch, "jobs", own("jobs"),
                    R"({"spec":{"parallelism":)" + std::to_string(random_() % 6) + "}}");
        break;
      default:
        world_.send(WriteVerb::kPatch, "pods", own("pods"),
                    R"({"spec":{"schedulingGates":null},"metadata":{"x":0)" + metadata() + "}}");
    }
    world_.run_pods();
  }

 private:
  template <typename List>
  const auto& any(const List& list) {
    return list[random_() % list.size()];
  }
  /// An object of the tenant's own, if there is one.
  std::string own(std::string_view resource) {
    std::vector<std::string> names;
    for (const std::string& name : world_.names(resource))
      if (name.find("victim") == std::string::npos) names.push_back(name);
    return names.empty() ? "none" : any(names);
  }
  std::string anybody() {
    const auto names = world_.names(random_() % 4 == 0 ? "jobs" : "workloads");
    return any(names);
  }
  std::string value() {
    static const std::vector<std::string> kFixed = {"true", "false", "1", "{}", "", "main", "head"};
    switch (random_() % 3) {
      case 0:
        return any(kFixed);
      case 1:
        return anybody();
      default:
        return "default/" + anybody();
    }
  }
  std::string pairs() {
    static const std::vector<std::string> kNames = {"kueue.x-k8s.io/elastic-job",
                                                    "kueue.x-k8s.io/workload-slice-replacement-for",
                                                    "kueue.x-k8s.io/workload-slice-name",
                                                    "elastic-jobs.sluice.dev/flavors",
                                                    "elastic-jobs.sluice.dev/revision",
                                                    "sluice.dev/started-with",
                                                    "sluice.dev/option-rank",
                                                    "sluice.dev/takes-no-part",
                                                    "kueue.x-k8s.io/podset",
                                                    "kueue.x-k8s.io/job-uid",
                                                    "kueue.x-k8s.io/workload",
                                                    "kueue.x-k8s.io/prebuilt-workload-name"};
    std::string out;
    std::set<std::string> used;
    for (std::uint32_t n = random_() % 4; n > 0; --n) {
      const std::string& name = any(kNames);
      if (!used.insert(name).second) continue;
      out += (out.empty() ? "\"" : ",\"") + name + "\":" + json::serialize(json::string(value()));
    }
    return out;
  }
  std::string metadata() {
    std::string out = ",\"annotations\":{" + pairs() + "}";
    if (random_() % 4 == 0)
      out += R"(,"labels":{"kueue.x-k8s.io/queue-name":"lq",)"
             R"("kueue.x-k8s.io/prebuilt-workload-name":")" +
             anybody() + "\"}";
    if (random_() % 2 == 0) return out;
    const bool of_job = random_() % 2 == 0;
    const std::string resource = of_job ? "jobs" : "workloads";
    const std::string name = any(world_.names(resource));
    const auto uid = ElasticWorld::at(world_.get(resource, "default/" + name), "/metadata/uid");
    return out + R"(,"ownerReferences":[{"apiVersion":")" +
           (of_job ? "batch/v1" : "kueue.x-k8s.io/v1beta2") + R"(","kind":")" +
           (of_job ? "Job" : "Workload") + R"(","controller":true,"name":")" + name +
           R"(","uid":")" + uid + "\"}]";
  }
  std::string job(const std::string& name, int parallelism) {
    json::value out = json::parse(ElasticWorld::job_text(name, parallelism, pairs()));
    const json::value more = json::parse(R"({"x":0)" + metadata() + "}");
    if (const auto* owners = more.get_object().if_contains("ownerReferences"))
      out.at("metadata").get_object()["ownerReferences"] = *owners;
    return json::serialize(out);
  }

  ElasticWorld& world_;
  std::mt19937 random_;
  int made_ = 0;
};

/// Pods with one CPU each that run for jobs in queues.
std::size_t running_pods(ElasticWorld& world) {
  std::size_t out = 0;
  for (const auto& pod : world.pods()) {
    if (!pod.running || pod.deleting || pod.job.empty()) continue;
    const std::string key = "default/" + pod.job;
    if (!world.exists("jobs", key)) continue;
    const auto job = world.get("jobs", key);
    const bool queued =
        !ElasticWorld::at(job, "/metadata/labels/kueue.x-k8s.io~1queue-name").empty();
    // One that names a queued job as its owner runs unqueued, as Kueue has it.
    if (queued && ElasticWorld::at(job, "/metadata/ownerReferences").empty()) ++out;
  }
  return out;
}

class OwnershipGraphs : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(OwnershipGraphs, A3NobodyElseLosesAnythingAndNothingRunsWithoutQuota) {
  ElasticWorld world;
  world.queue("9", "0");
  world.submit(ElasticWorld::job_text("victim-elastic", 3));
  world.submit(ElasticWorld::job_text("victim-plain", 2, ""));
  ASSERT_EQ(world.send(WriteVerb::kCreate, "workloads", "", workload_text("victim-bare", 1, "")),
            "");
  world.run_pods();
  const auto elastic = world.running("victim-elastic");
  const auto plain = world.running("victim-plain");
  ASSERT_THAT(elastic, SizeIs(3));
  Tenant tenant(world, GetParam());
  for (int step = 0; step < 25; ++step) {
    tenant.act();
    ASSERT_THAT(world.slices("victim-elastic"), ElementsAre("admitted 3")) << "step " << step;
    ASSERT_THAT(world.slices("victim-plain"), ElementsAre("admitted 2")) << "step " << step;
    ASSERT_EQ(ElasticWorld::state(world.get("workloads", "default/victim-bare")), "admitted");
    ASSERT_EQ(world.running("victim-elastic"), elastic) << "step " << step;
    ASSERT_EQ(world.running("victim-plain"), plain) << "step " << step;
    ASSERT_LE(world.cpus(), 9);
    // What runs holds quota; workloads without a job hold some too.
    ASSERT_LE(running_pods(world), static_cast<std::size_t>(world.cpus())) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, OwnershipGraphs, ::testing::Range(0u, 12u));

}  // namespace
}  // namespace elastic::test
