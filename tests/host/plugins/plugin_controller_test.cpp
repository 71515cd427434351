// Plugins as controllers: what they are called for, when again, and what they leave when they fail.
#include "host/controllers/plugin_wiring.hpp"
#include "tests/host/plugins/support.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host {
namespace {

using test::HostFixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFlavor = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
  "metadata":{"name":"f"},"spec":{}})";

class PluginControllerTest : public PluginTest {
 protected:
  void start(const std::string& mode) {
    set = load({plugin("objects-a", R"({"reconcile":")" + mode + "\"}")});
    wiring = std::make_unique<PluginWiring>(*set, host.kernel, host.objects);
    wiring->join(host.controllers);
    wiring->connect();
    log.clear();
  }
  /// What the plugin did at an instant `later`.
  std::vector<std::string> pass(Duration later) {
    host.now += later;
    clock.time = host.now;
    host.kernel.begin_instant(host.now);
    host.kernel.run_to_rest();
    std::vector<std::string> out;
    for (const auto& line : log)
      if (line.text.starts_with("reconcile")) out.push_back(line.text);
    log.clear();
    return out;
  }

  HostFixture host;
  std::unique_ptr<PluginSet> set;
  std::unique_ptr<PluginWiring> wiring;
};

TEST_F(PluginControllerTest, IsCalledForEachChangeAndForTheEnd) {
  start("count");
  host.apply(kFlavor);
  EXPECT_THAT(pass(0), ElementsAre("reconcile kueue.x-k8s.io/v1beta1 f 1"));
  EXPECT_THAT(pass(kSecond), IsEmpty());
  ASSERT_TRUE(host.merge("ResourceFlavor", "f", R"({"spec":{"nodeLabels":{"a":"b"}}})").ok());
  EXPECT_THAT(pass(0), ElementsAre("reconcile kueue.x-k8s.io/v1beta1 f 2"));
  ASSERT_TRUE(host.remove("ResourceFlavor", "f").ok());
  EXPECT_THAT(pass(0), ElementsAre("reconcile kueue.x-k8s.io/v1beta1 f 3"));
  EXPECT_THAT(wiring->objects().state_keys("objects-a", ""), IsEmpty());
  EXPECT_EQ(host.store.count(host.kind("events")), 2u) << "what it emitted, one per message";
}

TEST_F(PluginControllerTest, ComesAgainWhenItAskedFor) {
  start("again");
  host.apply(kFlavor);
  EXPECT_EQ(pass(0).size(), 1u);
  EXPECT_THAT(pass(29 * kSecond), IsEmpty());
  EXPECT_THAT(pass(1 * kSecond), ElementsAre(HasSubstr(" f 2")));
  EXPECT_THAT(pass(30 * kSecond), ElementsAre(HasSubstr(" f 3")));
}

TEST_F(PluginControllerTest, AFailureLeavesNothingAndIsRepeatedWithGrowingPauses) {
  limits.quarantine_faults = 1000;
  start("throw");
  host.apply(kFlavor);
  EXPECT_THAT(pass(0), ElementsAre(HasSubstr(" f 1")));
  for (const int pause : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    EXPECT_THAT(pass(pause * kSecond - 1), IsEmpty()) << pause;
    EXPECT_THAT(pass(1), ElementsAre(HasSubstr(" f 1"))) << pause;
  }
  EXPECT_THAT(wiring->objects().state_keys("objects-a", ""), IsEmpty());
  EXPECT_EQ(set->status()[0].faults, 12u);
}

// Once: a host whose plugin had been started again told it of everything for ever.
TEST_F(PluginControllerTest, APluginThatWasStartedAgainIsToldOfEverythingOnce) {
  set = load({plugin("objects-a", R"({"watch":"kueue.x-k8s.io/v1beta2 ResourceFlavor"})")});
  PluginController controller(set->controllers().front(), host.kernel);
  host.apply(kFlavor);
  const WorkKey everything{nullptr, "*", 0};
  const Result<Time> again = controller.reconcile(everything, host.objects);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, kNever);
  std::vector<WorkKey> named;
  controller.poll(named);
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].name, "f");
  named.clear();
  controller.poll(named);
  EXPECT_THAT(named, IsEmpty());
}

// As at its start: the owner in place of what it owns, and once.
TEST_F(PluginControllerTest, APluginThatWasStartedAgainIsToldOfOwnersInPlaceOfTheirs) {
  set = load({plugin("objects-a", R"({"watch":"v1 ConfigMap by-owner"})")});
  PluginController controller(set->controllers().front(), host.kernel);
  host.apply(test::config_map("owner", R"(,"uid":"0d9b8a4c-0000-4000-8000-000000000001")"));
  host.apply(test::config_map(
      "owned", R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner",
               "uid":"0d9b8a4c-0000-4000-8000-000000000001","controller":true}])"));
  ASSERT_TRUE(controller.reconcile({nullptr, "*", 0}, host.objects).ok());
  std::vector<WorkKey> named;
  controller.poll(named);
  EXPECT_FALSE(named.empty());
  for (const WorkKey& each : named) EXPECT_EQ(each.name, "default/owner");
}

TEST_F(PluginControllerTest, LabelsNarrowWhatItIsCalledFor) {
  set = load({plugin("objects-a", R"({"reconcile":"count",
    "watch":"kueue.x-k8s.io/v1beta1 ResourceFlavor label:team=a"})")});
  wiring = std::make_unique<PluginWiring>(*set, host.kernel, host.objects);
  wiring->join(host.controllers);
  wiring->connect();
  log.clear();
  host.apply(kFlavor);
  EXPECT_THAT(pass(0), IsEmpty());
  ASSERT_TRUE(host.merge("ResourceFlavor", "f", R"({"metadata":{"labels":{"team":"a"}}})").ok());
  EXPECT_THAT(pass(0), ElementsAre(HasSubstr(" f 1")));
  ASSERT_TRUE(host.merge("ResourceFlavor", "f", R"({"metadata":{"labels":{"team":"b"}}})").ok());
  EXPECT_THAT(pass(0), ElementsAre(HasSubstr(" f 2"))) << "it is told that it has it no more";
  ASSERT_TRUE(host.merge("ResourceFlavor", "f", R"({"metadata":{"labels":{"team":"c"}}})").ok());
  EXPECT_THAT(pass(0), IsEmpty());
}

TEST_F(PluginControllerTest, ASelectorThatIsNoneLeavesTheKindOut) {
  set = load({plugin("objects-a", R"({"reconcile":"count",
    "watch":"kueue.x-k8s.io/v1beta1 ResourceFlavor label:team>x"})")});
  const PluginController controller(set->controllers().front(), host.kernel);
  EXPECT_THAT(controller.watches(), IsEmpty());
}

// A status that nobody follows is not written where statuses are rendered on demand, so the answer
// may be yes too often, and never no where a decision could bring what the plugin looks for.
TEST_F(PluginControllerTest, FollowsWorkloadsWhoseStatusCanConcernIt) {
  const struct {
    const char* watch;
    const char* status;
    bool follows;
  } cases[] = {
      {"ResourceFlavor", "{}", false},
      {"Workload", "{}", true},
      {"Workload claimed", "{}", false},
      {"Workload has:status.conditions", "{}", true},       // the next decision writes some
      {"Workload has:status.admissionChecks", "{}", true},  // which the engine does not know
      {"Workload has:status.admission.clusterQueue", "{}", true},
      {"Workload has:status.clusterName", "{}", false},  // who writes it is told of that write
      {"Workload has:status.clusterName", R"({"clusterName":"a"})", true},
      {"Workload has:spec.priority", "{}", false},
      {"Workload has:spec.active", "{}", true},
  };
  for (const auto& c : cases) {
    set = load({plugin("objects-a",
                       std::string(R"({"watch":"kueue.x-k8s.io/v1beta2 )") + c.watch + "\"}")});
    const PluginController controller(set->controllers().front(), host.kernel);
    StoredObject workload;
    workload.kind = &host.kind("workloads");
    workload.key = "default/w";
    workload.body = std::make_shared<const std::string>(R"({"spec":{"active":true}})");
    workload.status = c.status;
    EXPECT_EQ(controller.follows(workload), c.follows) << c.watch << " " << c.status;
  }
}

// What decisions write of a workload they do not write of each: without checks there are none to
// be seen, and nobody waits for them.
TEST_F(PluginControllerTest, FollowsChecksOnlyOfWorkloadsThatHaveSome) {
  set = load({plugin("objects-a",
                     R"({"watch":"kueue.x-k8s.io/v1beta2 Workload has:status.admissionChecks"})")});
  const PluginController controller(set->controllers().front(), host.kernel);
  const std::string kueue = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":")";
  host.apply(kFlavor);
  host.apply(kueue + R"(AdmissionCheck","metadata":{"name":"c"},"spec":{"controllerName":"x"}})");
  for (const std::string name : {"checked", "unchecked"}) {
    const char* checks =
        name == "checked" ? R"(,"admissionChecksStrategy":{"admissionChecks":[{"name":"c"}]})" : "";
    host.apply(kueue + R"(ClusterQueue","metadata":{"name":")" + name +
               R"("},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],
        "flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1}]}]}])" +
               checks + "}}");
    const std::string in_default = R"(","metadata":{"namespace":"default","name":")" + name;
    host.apply(kueue + "LocalQueue" + in_default + R"("},"spec":{"clusterQueue":")" + name +
               "\"}}");
    host.apply(kueue + "Workload" + in_default + R"("},"spec":{"queueName":")" + name +
               R"(","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{
        "name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  }
  host.kernel.run_to_rest();
  const auto follows = [&](const char* key) {
    return controller.follows(*host.store.find(host.kind("workloads"), key));
  };
  EXPECT_FALSE(follows("default/unchecked"));
  EXPECT_TRUE(follows("default/checked"));
}

}  // namespace
}  // namespace sluice::host
