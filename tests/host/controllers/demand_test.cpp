// Statuses on demand: a machine that keeps up only what a controller follows writes no status of a
// workload that stands alone, whatever happens to it, and renders it for readers.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "api/json/json.hpp"
#include "host/machine/machine.hpp"
#include "host/objects/store.hpp"

namespace sluice::host::test {
namespace {

struct OnDemand : ::testing::Test {
  Configuration configuration;
  VirtualClock clock;
  std::unique_ptr<Rules> rules = Rules::without_plugins(clock);
  MemoryStore store;
  CountingIds ids;
  Machine machine{configuration, *rules, {.store = store, .ids = ids, .upkeep = Upkeep::kOnDemand}};

  OnDemand() { machine.begin_instant(*parse_time("2026-01-01T00:00:00Z")); }
  void create(std::string_view text) {
    ObjectAccess& objects = machine.objects();
    const auto done = objects.create(boost::json::parse(text).as_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  const api::KindInfo& workloads() { return *rules->scheme.find_by_name("workloads"); }
};

TEST_F(OnDemand, NoBuiltInControllerFollowsAWorkloadThatStandsAlone) {
  create(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
  create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
             "metadata":{"name":"f"}})");
  create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
             "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
             "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1"}]}]}]}})");
  create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq",
             "namespace":"default"},"spec":{"clusterQueue":"cq"}})");
  create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
             "namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
             "template":{"spec":{"containers":[{"name":"c","image":"i","resources":
             {"requests":{"cpu":"1"}}}]}}}]}})");
  machine.run_to_rest();
  const auto id = machine.engine().find("default/w");
  ASSERT_TRUE(id && machine.engine().state(*id) == WorkloadState::kAdmitted);
  EXPECT_EQ(store.find(workloads(), "default/w")->status.find("Admitted"), std::string::npos);
  const auto shown = machine.kernel().current(workloads(), "default/w");
  EXPECT_NE(api::to_json(shown).find(R"("type":"Admitted","status":"True")"), std::string::npos);
}

}  // namespace
}  // namespace sluice::host::test
