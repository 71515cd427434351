// What people may write after `sluice explain`.
#include <gmock/gmock.h>

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
       }) {
    const auto target = parse_explain_target(text, option);
    ASSERT_TRUE(target) << text << ": " << target.error().text;
    EXPECT_EQ(target->kind + (target->kind.empty() ? "" : " ") + target->ns + "|" + target->name,
              expected)
        << text;
  }
}

TEST(ExplainTarget, Mistakes) {
  for (const char* text : {"", "team/", "/train", "a/b/c", "a/b/job/c", "job/"})
    EXPECT_FALSE(parse_explain_target(text, "")) << text;
  const auto both = parse_explain_target("team/train", "other");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().text, "\"team/train\" names namespace team, --namespace names other");
}

}  // namespace
}  // namespace sluice::host
