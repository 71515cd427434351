// Workloads of jobs that are gone without them.
#include <gtest/gtest.h>

#include "tests/host/controllers/job_world.hpp"

namespace sluice::host::test {
namespace {

/// A whole machine, whose queue has one CPU.
struct OrphanWorld : HostFixture {
  OrphanWorld() : HostFixture(Configuration(), nullptr, true) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
      "metadata":{"name":"f"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
      "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
      "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
      "metadata":{"name":"lq","namespace":"default"},"spec":{"clusterQueue":"cq"}})");
    kernel.run_to_rest();
  }
  void submit(const std::string& name) {
    ASSERT_TRUE(create("jobs", JobWorld::job(name, 1, JobWorld::queued())));
    kernel.run_to_rest();
  }
  std::string workload_of(const std::string& job) {
    for (const auto& key : objects.keys(kind("workloads"), "default"))
      if (key.starts_with("default/job-" + job + "-")) return key;
    return {};
  }
  /// `REASON: message` of the workload's end; empty without one.
  std::string end(const std::string& key) {
    const boost::json::object workload = get("workloads", key);
    for (const auto& each : workload.at("status").at("conditions").as_array())
      if (each.at("type") == "Finished")
        return std::string(each.at("reason").as_string()) + ": " +
               std::string(each.at("message").as_string());
    return {};
  }
};

TEST(Orphans, HoldNoQuotaForAJobThatIsGone) {
  OrphanWorld world;
  world.submit("first");
  world.submit("second");
  const std::string first = world.workload_of("first"), second = world.workload_of("second");
  for (const std::string& key : {first, second})  // as where pods take their time to end
    ASSERT_TRUE(world.merge("workloads", key.substr(key.find('/') + 1),
                            R"({"metadata":{"finalizers":["kueue.x-k8s.io/resource-in-use"]}})"));
  ASSERT_TRUE(world.remove("jobs", "first", Propagation::kOrphan));
  world.kernel.run_to_rest();
  ASSERT_TRUE(world.exists("workloads", first));
  EXPECT_EQ(world.end(first), "OwnerNotFound: The workload's owner no longer exists");
  EXPECT_TRUE(world.get("workloads", second).at("status").as_object().contains("admission"));
  const auto finalizers = [&](const std::string& key) {
    return world.get("workloads", key).at("metadata").as_object().contains("finalizers");
  };
  EXPECT_FALSE(finalizers(first)) << "whoever deletes it waits for nobody";
  EXPECT_TRUE(finalizers(second));
}

TEST(Orphans, AreNotWorkloadsThatNeverHadAJob) {
  OrphanWorld world;
  world.submit("job");
  const std::string key = world.workload_of("job");
  auto alone = world.get("workloads", key);
  alone.at("metadata") = {{"name", "alone"}, {"namespace", "default"}};
  alone.erase("status");
  ASSERT_TRUE(world.create("workloads", boost::json::serialize(alone)));
  world.kernel.run_to_rest();
  EXPECT_EQ(world.end("default/alone"), "");
}

// A job without its workload would run on without quota: nobody takes the one from the other.
TEST(Orphans, AreNotMadeByUsers) {
  OrphanWorld world;
  world.submit("job");
  const std::string key = world.workload_of("job");
  const std::string name = key.substr(key.find('/') + 1);
  const auto owner = world.get("workloads", key).at("metadata").at("ownerReferences").at(0);
  const auto with = [&](const char* member, const char* value) {
    auto changed = owner.as_object();
    changed[member] = boost::json::parse(value);
    return boost::json::serialize(boost::json::array{changed});
  };
  for (const std::string& owners :
       {std::string("null"), std::string("[]"),
        std::string(R"([{"apiVersion":"v1","kind":"ConfigMap","name":"m","uid":"u"}])"),
        with("controller", "false"), with("uid", "\"u\""), with("name", "\"other\""),
        with("kind", "\"Pod\"")}) {
    const auto done =
        world.merge("workloads", name, R"({"metadata":{"ownerReferences":)" + owners + "}}");
    ASSERT_FALSE(done) << owners;
    EXPECT_EQ(done.error().code, 422) << owners;
    EXPECT_NE(done.error().text.find("runs on the quota of this workload"), std::string::npos)
        << done.error().text;
  }
  world.kernel.run_to_rest();
  EXPECT_EQ(world.end(key), "");
  // What does not change who owns it is the user's.
  EXPECT_TRUE(world.merge("workloads", name, R"({"metadata":{"labels":{"l":"1"}}})"));
  const auto more = R"({"metadata":{"ownerReferences":[)" + boost::json::serialize(owner) +
                    R"(,{"apiVersion":"v1","kind":"ConfigMap","name":"m","uid":"u"}]}})";
  EXPECT_TRUE(world.merge("workloads", name, more));
  EXPECT_TRUE(
      world.merge("workloads", name,
                  R"({"metadata":{"ownerReferences":[)" + boost::json::serialize(owner) + "]}}"));
}

TEST(Orphans, AreFoundInWhatAnotherHostLeft) {
  OrphanWorld world;
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"w","namespace":"default","labels":{"kueue.x-k8s.io/job-uid":"gone"}},
    "spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[
    {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  world.kernel.run_to_rest();
  EXPECT_NE(world.end("default/w"), "");
}

}  // namespace
}  // namespace sluice::host::test
