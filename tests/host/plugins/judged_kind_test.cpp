// How validators name kinds.
#include "host/plugins/judged_kind.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

TEST(JudgedKind, SaysOfWhichObjectsApiServersAsk) {
  const auto plain = parse_judged_kind("kueue.x-k8s.io/Workload");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->group_kind, "kueue.x-k8s.io/Workload");
  EXPECT_TRUE(plain->labels.empty() && plain->except.empty() && !plain->if_answered);

  const auto narrow = parse_judged_kind("Pod label:a=b,!c except:x,y if-answered");
  ASSERT_TRUE(narrow.ok());
  EXPECT_EQ(narrow->group_kind, "Pod");
  EXPECT_EQ(narrow->labels, "a=b,!c");
  EXPECT_EQ(narrow->except, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(narrow->if_answered);

  for (const char* each : {"example.com/held-by", "!example.com/held-by"}) {
    const auto annotated = parse_judged_kind(std::string("Pod annotation:") + each);
    ASSERT_TRUE(annotated.ok());
    EXPECT_EQ(annotated->annotation, each);
  }

  const auto unknown = parse_judged_kind("apps/Deployment resource:v1/deployments");
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(unknown->version, "v1");
  EXPECT_EQ(unknown->plural, "deployments");
  EXPECT_TRUE(unknown->written_group.empty());

  const auto scale = parse_judged_kind("autoscaling/Scale resource:apps/v1/statefulsets/scale");
  ASSERT_TRUE(scale.ok());
  EXPECT_EQ(scale->group_kind, "autoscaling/Scale");
  EXPECT_EQ(scale->written_group, "apps");
  EXPECT_EQ(scale->version, "v1");
  EXPECT_EQ(scale->plural, "statefulsets/scale");
}

TEST(JudgedKind, AnyOtherWordIsRefused) {
  for (const char* line :
       {"", " Pod", "Pod label:", "Pod except:", "Pod except:a,,b", "Pod resource:v1",
        "Pod resource:/pods", "Pod resource:v1/", "Scale resource:apps/v1/statefulsets",
        "Pod annotation:!", "Pod annotation:a'b", "Pod labels:a", "Pod  if-answered",
        "Pod always"}) {
    const auto parsed = parse_judged_kind(line);
    ASSERT_FALSE(parsed.ok()) << line;
    EXPECT_NE(parsed.error().text.find("allowed: [GROUP/]KIND [label:SELECTOR]"), std::string::npos)
        << parsed.error().text;
  }
}

}  // namespace
}  // namespace sluice::host
