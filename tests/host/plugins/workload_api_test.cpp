// What a plugin sees of a workload: every accessor, over the C table and over the C++ view.
#include "host/plugins/workload_api.hpp"

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
  w.status.conditions = {{"Admitted", "True", "", "", 0, 0}};
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

  std::vector<std::string> visited;
  seen.each_label([&](auto key, auto value) {
    visited.push_back(std::string(key) + "=" + std::string(value));
  });
  seen.each_pod_request(0, [&](auto resource, auto amount) {
    visited.push_back(std::string(resource) + "=" + std::to_string(amount));
  });
  EXPECT_THAT(visited, ElementsAre("team=research", "cpu=250", "memory=1024"));
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

}  // namespace
}  // namespace sluice::host
