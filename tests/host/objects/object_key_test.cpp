// Keys of objects: cut, and put together again.
#include "host/objects/object_key.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

TEST(ObjectKey, IsCutAndPutTogetherAgain) {
  struct Case {
    const char *key, *ns, *name;
  };
  const Case cases[] = {{"team-a/train", "team-a", "train"}, {"cq", "", "cq"}, {"", "", ""}};
  for (const Case& each : cases) {
    EXPECT_EQ(namespace_of(each.key), each.ns) << each.key;
    EXPECT_EQ(split_key(each.key).name, each.name) << each.key;
    EXPECT_EQ(join_key(each.ns, each.name), each.key);
  }
  EXPECT_EQ(join_key("team-a", ""), "team-a/") << "what all keys of the namespace begin with";
}

TEST(ObjectKey, HasANamespaceWhereTheKindSaysSo) {
  api::KindInfo job, node;
  job.namespaced = true;
  EXPECT_EQ(key_of(job, "team-a", "train"), "team-a/train");
  EXPECT_EQ(key_of(job, "", "train"), "/train") << "which is no object's key";
  EXPECT_EQ(key_of(node, "team-a", "n1"), "n1");
}

}  // namespace
}  // namespace sluice::host
