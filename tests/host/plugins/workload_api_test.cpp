// What a plugin sees of a workload: every accessor, over the C table and over the C++ view.
#include "host/plugins/workload_api.hpp"

#include <sluice/cpp/json.hpp>
#include <sluice/cpp/workload.hpp>

#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;

TEST(WorkloadApi, ShowsWhatIsThere) {
  api::Workload w = make_workload("train", 7);
  w.meta.labels.set("team", "research");
  w.meta.annotations.set("note", "x");
  w.meta.creation_time = 5 * kSecond;
  w.meta.owners = {{"v1", "Thing", "other", "u", false, false},
                   {"batch/v1", "Job", "train-job", "u2", true, true}};
  w.queue_name = "lq";
  auto pod = std::make_shared<api::PodTemplate>();
  pod->requests = {{"cpu", 250}, {"memory", 1024}};
  w.pod_sets[0].pod = pod;
  w.pod_sets[0].count = 4;
  w.pod_sets[0].min_count = 2;
  w.status.admission = api::Admission{"cq", {api::PodSetAssignment{}}};
  w.status.admission->pod_sets[0].flavors.set("cpu", "spot");
  w.status.conditions = {{"Admitted", "True", "", "", 8 * kSecond, 0},
                         {"Finished", "False", "Runs", "not yet", 9 * kSecond, 0}};
  w.status.accumulated_past_execution_seconds = 30;
  w.maximum_execution_seconds = 90;
  w.extensions = R"({"spec":{}})";

  const ::sluice::Workload seen(ref_of(w));
  EXPECT_EQ(seen.key(), "team-a/train");
  EXPECT_EQ(seen.uid(), "uid-train");
  EXPECT_EQ(seen.queue_name(), "lq");
  EXPECT_EQ(seen.priority(), 7);
  EXPECT_EQ(seen.created_at(), 5 * kSecond);
  EXPECT_TRUE(seen.active());
  EXPECT_EQ(seen.label("team"), "research");
  EXPECT_EQ(seen.annotation("note"), "x");
  ASSERT_TRUE(seen.controller());
  EXPECT_EQ(seen.controller()->first, "Job");
  EXPECT_EQ(seen.controller()->second, "train-job");
  EXPECT_EQ(seen.pod_sets(), 1u);
  EXPECT_EQ(seen.pod_set_name(0), "main");
  EXPECT_EQ(seen.pod_set_count(0), 4);
  EXPECT_EQ(seen.pod_set_min_count(0), 2);
  EXPECT_EQ(seen.pod_request(0, "cpu"), 250);
  EXPECT_EQ(seen.admitted_by(), "cq");
  EXPECT_EQ(seen.admitted_flavor(0, "cpu"), "spot");
  EXPECT_EQ(seen.condition("Admitted"), "True");
  EXPECT_EQ(seen.extensions(), R"({"spec":{}})");
  EXPECT_EQ(seen.total_request("cpu"), 1000) << "4 pods of 250 milli";
  EXPECT_EQ(seen.maximum_execution_seconds(), 90);
  EXPECT_EQ(seen.past_execution_seconds(), 30);
  EXPECT_EQ(seen.true_since("Admitted"), 8 * kSecond);
  EXPECT_FALSE(seen.true_since("Finished"));
  const auto finished = seen.condition_details("Finished");
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, "False");
  EXPECT_EQ(finished->reason, "Runs");
  EXPECT_EQ(finished->message, "not yet");

  std::vector<std::string> visited;
  seen.each_label([&](auto key, auto value) {
    visited.push_back(std::string(key) + "=" + std::string(value));
  });
  seen.each_pod_request(0, [&](auto resource, auto amount) {
    visited.push_back(std::string(resource) + "=" + std::to_string(amount));
  });
  seen.each_owner([&](const ::sluice::Owner& owner) {
    visited.push_back(std::string(owner.api_version) + " " + std::string(owner.kind) + " " +
                      std::string(owner.name) + " " + std::string(owner.uid) +
                      (owner.controller ? " controls" : ""));
  });
  EXPECT_THAT(visited, ElementsAre("team=research", "cpu=250", "memory=1024", "v1 Thing other u",
                                   "batch/v1 Job train-job u2 controls"));
}

TEST(WorkloadApi, SaysWhatIsNotThere) {
  const api::Workload w = make_workload("w");
  const ::sluice::Workload seen(ref_of(w));
  EXPECT_EQ(seen.created_at(), 0);
  EXPECT_FALSE(seen.label("team"));
  EXPECT_FALSE(seen.annotation(""));
  EXPECT_FALSE(seen.controller());
  EXPECT_FALSE(seen.pod_set_min_count(0));
  EXPECT_EQ(seen.pod_request(0, "cpu"), 0);
  EXPECT_FALSE(seen.admitted_by());
  EXPECT_FALSE(seen.admitted_flavor(0, "cpu"));
  EXPECT_FALSE(seen.condition("Admitted"));
  EXPECT_EQ(seen.extensions(), "");
  // Pod sets out of range are as if absent.
  EXPECT_EQ(seen.pod_set_name(9), "");
  EXPECT_EQ(seen.pod_set_count(9), 0);
  EXPECT_EQ(seen.pod_request(9, "cpu"), 0);
}

/// As JSON it holds what decides about it, in the fields of the API, and reads back as the same.
TEST(WorkloadApi, D4_JsonHoldsWhatDecides) {
  api::Workload w = make_workload("train", 7);
  w.meta.owners = {{"batch/v1", "Job", "train-job", "u2", true, true}};
  w.queue_name = "lq";
  w.maximum_execution_seconds = 90;
  w.priority_class = std::make_shared<api::PriorityClassRef>(
      api::PriorityClassRef{"kueue.x-k8s.io", "WorkloadPriorityClass", "high"});
  auto pod = std::make_shared<api::PodTemplate>();
  pod->requests = {{"cpu", 250}};
  w.pod_sets[0].pod = pod;
  w.status.conditions = {{"Admitted", "True", "Admitted", "it is", 8 * kSecond, 0}};
  w.extensions = R"({"spec":{"wishes":{"colour":"red"},"priority":99}})";
  const auto seen = ::sluice::Json::parse(::sluice::Workload(ref_of(w)).json());
  EXPECT_EQ(seen.string_or("kind", ""), "Workload");
  EXPECT_EQ(seen.string_or("metadata.ownerReferences.0.uid", ""), "u2");
  EXPECT_EQ(seen.string_or("spec.queueName", ""), "lq");
  EXPECT_EQ(seen.int_or("spec.maximumExecutionTimeSeconds", 0), 90);
  EXPECT_EQ(seen.string_or("spec.priorityClassRef.name", ""), "high");
  EXPECT_EQ(seen.string_or("spec.podSets.0.template.spec.containers.0.resources.requests.cpu", ""),
            "250m");
  EXPECT_EQ(seen.string_or("status.conditions.0.lastTransitionTime", ""), "1970-01-01T00:00:08Z");
  EXPECT_EQ(seen.string_or("spec.wishes.colour", ""), "red") << "a field that a plugin added";
  EXPECT_EQ(seen.int_or("spec.priority", 0), 7) << "its own fields are not overwritten";
}

}  // namespace
}  // namespace sluice::host
