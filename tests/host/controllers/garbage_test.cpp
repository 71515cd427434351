// Objects whose owners are gone before they are made.
#include "host/controllers/garbage.hpp"

#include <gtest/gtest.h>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

struct GarbageWorld : HostFixture {
  GarbageWorld() {
    controllers.add(garbage);
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
    apply(config_map("here"));
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
      "metadata":{"name":"flavor"},"spec":{}})");
    kernel.run_to_rest();
  }
  std::string uid(std::string_view resource, std::string_view key) {
    return at(get(resource, key), "/metadata/uid");
  }
  void child(const std::string& name, const std::string& owners, const std::string& ns) {
    apply(config_map(name, R"(,"ownerReferences":[)" + owners + "]", ns));
    kernel.run_to_rest();
  }
  void after(Duration time) {
    machine.begin_instant(now += time);
    kernel.run_to_rest();
  }

  GarbageController garbage{scheme, store};
};

std::string owner(const char* api_version, const char* kind, const char* name,
                  const std::string& uid) {
  return std::string(R"({"apiVersion":")") + api_version + R"(","kind":")" + kind +
         R"(","name":")" + name + R"(","uid":")" + uid + "\"}";
}

TEST(Garbage, IsWhatNamesOnlyOwnersThatAreGone) {
  struct Case {
    const char* name;
    std::string owners;
    const char* ns;
    bool stays;
  };
  GarbageWorld world;
  const std::string here =
      owner("v1", "ConfigMap", "here", world.uid("configmaps", "default/here"));
  const std::string gone = owner("v1", "ConfigMap", "gone", "12");
  const std::vector<Case> cases = {
      {"owner-is-here", here, "default", true},
      {"one-of-two-is-here", gone + "," + here, "default", true},
      {"owner-is-gone", gone, "default", false},
      {"owner-is-a-namesake", owner("v1", "ConfigMap", "here", "12"), "default", false},
      {"owner-is-in-another-namespace", here, "team", false},
      {"kind-is-unknown", owner("example.com/v1", "Thing", "gone", "12"), "default", true},
      {"owner-has-no-namespace",
       owner("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "flavor",
             world.uid("resourceflavors", "flavor")),
       "team", true},
  };
  for (const Case& c : cases) world.child(c.name, c.owners, c.ns);
  world.after(kOwnersMayCome - 1);
  for (const Case& c : cases)
    EXPECT_TRUE(world.exists("configmaps", std::string(c.ns) + "/" + c.name)) << c.name;
  world.after(1);
  for (const Case& c : cases)
    EXPECT_EQ(world.exists("configmaps", std::string(c.ns) + "/" + c.name), c.stays) << c.name;
}

TEST(Garbage, IsNoneWhenTheReferenceIsDroppedInTime) {
  GarbageWorld world;
  world.child("child", owner("v1", "ConfigMap", "gone", "12"), "default");
  ASSERT_TRUE(world.merge("configmaps", "child", R"({"metadata":{"ownerReferences":null}})"));
  world.after(kOwnersMayCome);
  EXPECT_TRUE(world.exists("configmaps", "default/child"));
}

TEST(Garbage, LeavesWhatHasNoNamespaceAndNamesAnOwnerInOne) {
  GarbageWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":
    {"name":"child","ownerReferences":[)" +
              owner("v1", "ConfigMap", "gone", "12") + R"(]},"spec":{}})");
  world.kernel.run_to_rest();
  world.after(kOwnersMayCome);
  EXPECT_TRUE(world.exists("resourceflavors", "child"));
}

}  // namespace
}  // namespace sluice::host::test
