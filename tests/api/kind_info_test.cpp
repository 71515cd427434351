// GROUP/VERSION and GROUP/KIND: put together, and cut again.
#include "api/schema/kind_info.hpp"

#include <gtest/gtest.h>

namespace sluice::api {
namespace {

TEST(KindInfo, IsNamedByItsGroup) {
  struct Case {
    const char *group, *api_version, *group_kind;
  };
  const Case cases[] = {{"batch", "batch/v1", "batch/Job"}, {"", "v1", "/Job"}};
  for (const Case& each : cases) {
    KindInfo kind;
    kind.group = each.group;
    kind.kind = "Job";
    EXPECT_EQ(kind.api_version("v1"), each.api_version);
    EXPECT_EQ(kind.group_kind(), each.group_kind);
    EXPECT_EQ(group_version(each.group, "v1"), each.api_version);
    EXPECT_EQ(group_of(each.api_version), each.group);
    EXPECT_EQ(group_of(each.group_kind), each.group);
    EXPECT_EQ(version_of(each.api_version), "v1");
  }
}

}  // namespace
}  // namespace sluice::api
