// What a webhook makes of objects: what a host of its own would have stored, or refused.
#include "tests/host/webhook/review_world.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

json::object job(const std::string& name, const std::string& labels,
                 const std::string& annotations = "") {
  json::object out = ReviewWorld::parsed(JobWorld::job(name, 2, labels, annotations));
  out["metadata"].as_object()["namespace"] = "default";
  return out;
}

TEST(Reviewer, AJobWithAQueueIsHeldAndOneWithoutIsNobodys) {
  ReviewWorld world;
  world.publish();
  const json::object held = world.mutated(job("a", JobWorld::queued()));
  EXPECT_EQ(at(held, "/spec/suspend"), "true");
  EXPECT_EQ(at(held, "/metadata/annotations/sluice.dev~1created-by"), "ann");
  EXPECT_EQ(world.refusal(held), "");
  const json::object free = job("b", "");
  EXPECT_EQ(world.mutated(free), free);
  // Kubernetes validates it, and Sluice does not.
  json::object strange = free;
  strange["spec"].as_object()["parallelism"] = -1;
  EXPECT_EQ(world.refusal(strange), "");
}

TEST(Reviewer, AQueueNamedDefaultTakesTheOthers) {
  ReviewWorld world;
  world.queue("more", "default", "9", "9");
  world.publish();
  const json::object held = world.mutated(job("a", ""));
  EXPECT_EQ(at(held, "/metadata/labels/kueue.x-k8s.io~1queue-name"), "default");
  EXPECT_EQ(at(held, "/spec/suspend"), "true");
}

TEST(Reviewer, WhereAllJobsAreManagedAllAreHeld) {
  ReviewWorld world(true);
  world.publish();
  EXPECT_EQ(at(world.mutated(job("a", "")), "/spec/suspend"), "true");
}

/// What was refused is told in the words of a write on a host.
TEST(Reviewer, RefusesWhatAHostRefusesInItsWords) {
  ReviewWorld world;
  world.publish();
  struct Case {
    const char* resource;
    std::string body;
  };
  const Case cases[] = {
      {"clusterqueues", R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
          "metadata":{"name":"q"},"spec":{"resourceGroups":[{"coveredResources":["cpu"],
          "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"-1"}]}]}]}})"},
      {"clusterqueues", R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
          "metadata":{"name":"q"},"spec":{"stopPolicy":"Sometimes"}})"},
      {"resourceflavors", R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
          "metadata":{"name":"f"},"spec":{"nodeLabels":{"a b":"c"}}})"},
      {"workloads", R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
          "metadata":{"name":"w","namespace":"default"},"spec":{"podSets":[]}})"},
      {"workloads", R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
          "metadata":{"name":"w","namespace":"default"},"spec":{"priorityClassRef":
          {"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"none"},
          "podSets":[{"name":"main","count":1,"template":{"spec":{"containers":
          [{"name":"c","image":"i"}]}}}]}})"},
      {"jobs",
       JobWorld::job("j", 2,
                     JobWorld::queued() + R"(,"kueue.x-k8s.io/max-exec-time-seconds":"soon")")},
  };
  for (const Case& c : cases) {
    const auto host = world.create(c.resource, c.body);
    ASSERT_FALSE(host.ok()) << c.body;
    json::object object = ReviewWorld::parsed(c.body);
    if (world.kind(c.resource).namespaced) object["metadata"].as_object()["namespace"] = "default";
    EXPECT_EQ(world.refusal(object), host.error().text);
    // Said once: by the step that validates.
    EXPECT_NO_FATAL_FAILURE(world.mutated(object));
  }
}

TEST(Reviewer, FillsInWhatASchemaCannot) {
  ReviewWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass",
                  "metadata":{"name":"high"},"value":100})");
  world.publish();
  const json::object workload = ReviewWorld::parsed(R"({"apiVersion":"kueue.x-k8s.io/v1beta2",
      "kind":"Workload","metadata":{"name":"w","namespace":"default"},"spec":{"priorityClassRef":
      {"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"},"podSets":[{"name":
      "main","count":1,"template":{"spec":{"unheardOf":1,"containers":[{"name":"c"}]}}}]}})");
  const json::object filled = world.mutated(workload);
  EXPECT_EQ(at(filled, "/spec/priority"), "100");
  // What is not known here is the API server's business.
  EXPECT_EQ(at(filled, "/spec/podSets/0/template/spec/unheardOf"), "1");
}

TEST(Reviewer, WhatTheSystemWroteIntoAJobStays) {
  ReviewWorld world;
  world.publish();
  const json::object forged = job("a", JobWorld::queued(), R"("sluice.dev/started-with":"{}")");
  EXPECT_EQ(at(world.mutated(forged), "/metadata/annotations/sluice.dev~1started-with"),
            "(absent)");
  EXPECT_EQ(at(world.mutated(forged), "/spec/suspend"), "true");
  // One that runs has it; a user who leaves it out, or changes it, does not get rid of it.
  json::object running = forged;
  running["spec"].as_object()["suspend"] = false;
  json::object changed = running;
  changed["metadata"].as_object()["annotations"] = json::object{{"mine", "1"}};
  const json::object kept = world.mutated(changed, running);
  EXPECT_EQ(at(kept, "/metadata/annotations/sluice.dev~1started-with"), "{}");
  EXPECT_EQ(at(kept, "/metadata/annotations/mine"), "1");
}

/// The note of who created a workload is made on its way to the validating step.
TEST(Reviewer, OnlyWhoSendsAMarkIsTold) {
  ReviewWorld world;
  world.publish();
  json::object workload = ReviewWorld::parsed(R"({"apiVersion":"kueue.x-k8s.io/v1beta2",
      "kind":"Workload","metadata":{"name":"w","namespace":"default"},"spec":{"podSets":[{"name":
      "main","count":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  const auto warnings = [&world](const json::object& object, ReviewStep step) {
    return world.reviewer.review(world.asked(object), step).warnings;
  };
  const auto nobody = ::testing::IsEmpty();
  EXPECT_THAT(warnings(workload, ReviewStep::kMutating), nobody);
  json::object noted = world.mutated(workload);
  EXPECT_EQ(at(noted, "/metadata/annotations/sluice.dev~1created-by"), "ann");
  EXPECT_THAT(warnings(noted, ReviewStep::kValidating), nobody);

  workload["metadata"].as_object()["annotations"] = json::object{{"sluice.dev/created-by", "bob"}};
  EXPECT_THAT(warnings(workload, ReviewStep::kMutating),
              ::testing::ElementsAre("metadata.annotations[sluice.dev/created-by]: only the system "
                                     "sets this; what was sent is left out"));
  noted = world.mutated(workload);
  EXPECT_EQ(at(noted, "/metadata/annotations/sluice.dev~1created-by"), "ann");
  EXPECT_THAT(warnings(noted, ReviewStep::kValidating), nobody);
}

TEST(Reviewer, WhatDecidesAboutARunningJobStays) {
  ReviewWorld world;
  world.publish();
  json::object running = job("a", JobWorld::queued());
  running["spec"].as_object()["suspend"] = false;
  json::object moved = running;
  moved["metadata"].at("labels").as_object()["kueue.x-k8s.io/queue-name"] = "other";
  EXPECT_THAT(world.refusal(moved, running),
              HasSubstr("field is immutable while the job is not suspended"));
}

TEST(Reviewer, HousekeepingIsNotJudged) {
  ReviewWorld world;
  world.publish();
  // Stored while no webhook was there to check it.
  json::object wrong = ReviewWorld::parsed(R"({"apiVersion":"kueue.x-k8s.io/v1beta2",
      "kind":"ClusterQueue","metadata":{"name":"q","finalizers":["a/b"]},
      "spec":{"stopPolicy":"Sometimes"}})");
  json::object freed = wrong;
  freed["metadata"].as_object().erase("finalizers");
  EXPECT_EQ(world.refusal(freed, wrong), "");
  json::object going = wrong;
  going["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  going["spec"].as_object()["cohortName"] = "c";
  EXPECT_EQ(world.refusal(going, wrong), "");
  json::object changed = wrong;
  changed["spec"].as_object()["cohortName"] = "c";
  EXPECT_THAT(world.refusal(changed, wrong), HasSubstr("spec.stopPolicy"));
}

TEST(Reviewer, WhetherItCanBeCreatedIsNotItsQuestion) {
  ReviewWorld world;
  world.submit(JobWorld::job("a", 2, JobWorld::queued()));
  world.publish();
  // Deleted a moment ago; and one whose name the API server will draw.
  EXPECT_EQ(world.refusal(world.mutated(job("a", JobWorld::queued()))), "");
  json::object drawn = job("", JobWorld::queued());
  drawn["metadata"].as_object().erase("name");
  drawn["metadata"].as_object()["generateName"] = "a-";
  const json::object held = world.mutated(drawn);
  EXPECT_EQ(at(held, "/metadata/name"), "(absent)");
  EXPECT_EQ(at(held, "/spec/suspend"), "true");
}

TEST(Reviewer, TheControllersOwnWritesAreDone) {
  ReviewWorld world;
  world.publish();
  world.reviewer.set_self("ann");
  const json::object forged = job("a", JobWorld::queued(), R"("sluice.dev/started-with":"{}")");
  // The controller's user creates jobs, too; and no other user passes as it by naming its tool.
  EXPECT_NE(world.mutated(forged), forged);
  world.manager = "sluice";
  EXPECT_EQ(world.mutated(forged), forged);
  world.user = "bob";
  EXPECT_NE(world.mutated(forged), forged);
}

TEST(Reviewer, AKindThatIsNotKnownIsRefusedWithWhatToDo) {
  ReviewWorld world;
  const json::object cow =
      ReviewWorld::parsed(R"({"apiVersion":"farm/v1","kind":"Cow","metadata":{"name":"c"}})");
  EXPECT_THAT(world.refusal(cow), HasSubstr("has no kind Cow of farm/v1: give the cluster"));
}

class AnyGate final : public hooks::PodGate {
 public:
  void gates(const hooks::JobQuery&, std::vector<std::string>& out, hooks::Fault&) override {
    out = {"example.com/gate"};
  }
  void granted(const hooks::JobQuery&, hooks::PodGrants&, hooks::Fault&) override {}
};

TEST(Reviewer, PodsGetTheGatesOfTheirJob) {
  AnyGate gate;
  ReviewWorld world(false, &gate);
  world.submit(JobWorld::job("train", 3, JobWorld::queued()));
  world.publish();
  json::object pod = ReviewWorld::parsed(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default",
          "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":")" +
      world.job_at("train", "/metadata/uid") +
      R"(","controller":true}]},"spec":{"containers":[{"name":"c"}]}})");
  const json::object gated = world.mutated(pod);
  EXPECT_EQ(at(gated, "/spec/schedulingGates"), R"([{"name":"example.com/gate"}])");
  // The user does not take it away; a second copy of it does not matter.
  EXPECT_THAT(world.refusal(pod, gated), HasSubstr("is lifted by the system"));
  EXPECT_EQ(world.mutated(gated), gated);
  pod["metadata"].as_object().erase("ownerReferences");
  EXPECT_EQ(world.mutated(pod), pod);
}

}  // namespace
}  // namespace sluice::host::test
