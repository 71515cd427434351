// The names of workloads are Kueue's.
#include "host/controllers/jobs/names.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

struct Case {
  const char* kind;
  const char* group;
  std::string job;
  const char* uid;
  const char* revision;
  std::string name;
};

TEST(WorkloadName, FollowsTheFormula) {
  const char* uid = "78d1e61a-c399-4c09-800f-a0bbfb5fe71e";
  // The digits were computed with sha1sum from the lines that the formula names.
  const Case cases[] = {
      {"Job", "batch", "demo-slice", uid, "", "job-demo-slice-59405"},
      {"Job", "batch", "demo-slice", uid, "1", "job-demo-slice-e7080"},
      {"Job", "batch", "demo-slice", uid, "2", "job-demo-slice-078e4"},
      {"Job", "batch", "demo-slice", uid, "3", "job-demo-slice-75e0c"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(workload_name(c.kind, c.group, c.job, c.uid, c.revision), c.name);
}

TEST(WorkloadName, IsCutToWhatANameMayHold) {
  const std::string name = workload_name("RayCluster", "ray.io", std::string(300, 'a'), "uid");
  EXPECT_EQ(name.size(), 253u);
  EXPECT_TRUE(name.starts_with("raycluster-aaa"));
  EXPECT_EQ(name[247], '-');
  EXPECT_NE(name, workload_name("RayCluster", "ray.io", std::string(301, 'a'), "uid"))
      << "the whole name enters the digits";
}

}  // namespace
}  // namespace sluice::host
