// What people may write after `sluice explain`.
#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "host/client/explain.hpp"

namespace sluice::host {
namespace {

TEST(ExplainTarget, Forms) {
  struct Case {
    const char *text, *option;
    const char* expected;  ///< `ns|name`, behind the kind of a job
  };
  for (const auto& [text, option, expected] : std::vector<Case>{
           {"team/train", "", "team|train"},
           {"train", "", "|train"},
           {"train", "team", "team|train"},
           {"team/train", "team", "team|train"},
           {"job/train", "", "job |train"},
           {"jobs/train", "team", "job team|train"},
           {"job.batch/train", "", "job |train"},
           {"team/job/train", "", "job team|train"},
           {"raycluster/train", "team", "raycluster team|train"},
           {"team/rayclusters.ray.io/train", "", "raycluster team|train"},
           {"trainings.example.com/train", "", "trainings.example.com |train"},
           {"team/trainings.example.com/train", "", "trainings.example.com team|train"},
           {"jobset/train", "team", "jobset team|train"},
           {"team/jobset/train", "", "jobset team|train"},
           {"jobset/train", "", "jobset|train"},  // or a kind: the server tells
       }) {
    const auto target = parse_explain_target(text, option);
    ASSERT_TRUE(target) << text << ": " << target.error().text;
    EXPECT_EQ(target->kind + (target->kind.empty() ? "" : " ") + target->ns + "|" + target->name,
              expected)
        << text;
  }
}

/// What stands in for a running job is not what people ask about.
TEST(ExplainTarget, C1_OfAJobsWorkloadsItsOwn) {
  const auto workload = [](const char* name, const char* owner, const char* condition,
                           bool active = true, const char* created = "2026-01-01T00:00:00Z") {
    return std::string(R"({"metadata":{"name":")") + name + R"(","creationTimestamp":")" + created +
           R"(","ownerReferences":[{"uid":")" + owner + R"("}]},"spec":{"active":)" +
           (active ? "true" : "false") + R"(},"status":{"conditions":[{"type":")" + condition +
           R"(","status":"True"}]}})";
  };
  struct Case {
    std::vector<std::string> workloads;
    const char* expected;
  };
  for (const auto& [workloads, expected] : std::vector<Case>{
           {{}, ""},
           {{workload("parent", "job", "Admitted"), workload("option", "parent", "None", false)},
            "parent"},
           {{workload("runs", "job", "Admitted"), workload("waits", "job", "None")}, "waits"},
           {{workload("runs", "job", "Admitted"), workload("off", "job", "None", false)}, "runs"},
           {{workload("ended", "job", "Finished"), workload("off", "job", "None", false)}, "off"},
           {{workload("new", "job", "None", true, "2026-01-02T00:00:00Z"),
             workload("old", "job", "None")},
            "new"},
       }) {
    std::string list = R"({"items":[)";
    for (const std::string& each : workloads) list += (list.back() == '[' ? "" : ",") + each;
    EXPECT_EQ(workload_to_explain(boost::json::parse(list + "]}").as_object(), "job"), expected);
  }
}

TEST(ExplainTarget, OfANameThatNothingHasAPodMayBeAskedFor) {
  EXPECT_EQ(nothing_found("team", "g", "; as a job: not found"),
            "there is no workload team/g; as a job: not found; of several pods that become one "
            "workload together ask for one of them: pod/NAME");
}

TEST(ExplainTarget, Mistakes) {
  for (const char* text : {"", "team/", "/train", "/b/c", "a//c", "a/b/job/c", "job/"})
    EXPECT_FALSE(parse_explain_target(text, "")) << text;
  const auto both = parse_explain_target("team/job/train", "other");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().text, "\"team/job/train\" names namespace team, --namespace names other");
}

}  // namespace
}  // namespace sluice::host
