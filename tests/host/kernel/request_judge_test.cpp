// Which plugin may free a workload's quota, and which may end the pause after a Retry.
#include "host/kernel/request_judge.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// The plugin `owner` says of all workloads that they end later.
struct EndsLater final : hooks::WorkloadTraits {
  void traits(const hooks::TraitsQuery&, hooks::TraitsAnswer& out, hooks::Fault&) override {
    out.traits.ends_later = true;
    out.traits.ends_later_by = "owner";
    out.claimed_by = {"other", "owner"};
  }
};

/// `example.com/a` is answered by the plugin `a`, and so on; `example.com/outside` by none.
struct Port final : PluginPort {
  void begin_instant(Time) override {}
  bool listens(hooks::Event, bool) const override { return false; }
  void notify(const hooks::Notification&) override {}
  std::vector<EngineRequest> take_requests() override { return {}; }
  Time next_timer() const override { return kNever; }
  std::string plugin_of_checks(std::string_view controller) const override {
    const std::string_view name = controller.substr(controller.find('/') + 1);
    return name == "outside" ? "" : std::string(name);
  }
};

struct RequestJudgeTest : ::testing::Test {
  Configuration configuration;
  VirtualClock clock;
  EndsLater plugin;
  Port port;
  std::unique_ptr<Rules> rules;
  std::unique_ptr<LiveStore> store;
  CountingIds ids;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<RequestJudge> judge;

  /// A queue with these checks, and a workload in it that has a reservation.
  void start(const std::vector<std::string>& checks, bool ends_later) {
    judge.reset();
    machine.reset();
    store.reset();
    rules = Rules::without_plugins(clock);
    if (ends_later) rules->hooks.workload_traits = &plugin;
    rules->hooks.plugins = {"owner", "other"};
    store = std::make_unique<LiveStore>(rules->scheme, nullptr);
    machine = std::make_unique<Machine>(
        configuration, *rules, MachineEdges{.store = *store, .ids = ids, .controllers = false});
    judge = std::make_unique<RequestJudge>(machine->kernel().engine(), *store,
                                           *rules->scheme.find_by_name("admissionchecks"), port);
    machine->begin_instant(*parse_time("2026-01-01T00:00:00Z"));
    create(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
    std::string list;
    for (const std::string& check : checks) {
      create(
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":")" +
          check + R"("},"spec":{"controllerName":"example.com/)" + check + "\"}}");
      list += (list.empty() ? "" : ",") + (R"({"name":")" + check + "\"}");
    }
    if (!list.empty()) list = R"("admissionChecksStrategy":{"admissionChecks":[)" + list + "]},";
    create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
               "metadata":{"name":"f"}})");
    create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
               "spec":{"namespaceSelector":{},)" +
           list + R"("resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f",
               "resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}})");
    create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq",
               "namespace":"default"},"spec":{"clusterQueue":"cq"}})");
    create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
               "namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
               "template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}
               ]}}}]}})");
    machine->kernel().run_to_rest();
  }
  void create(const std::string& text) {
    const auto done = machine->objects().create(json::parse(text).as_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  void retry(const std::string& check) {
    api::AdmissionCheckState state;
    state.name = check;
    state.state = "Retry";
    state.requeue_after_seconds = 60;
    ASSERT_TRUE(machine->kernel().report_check("default/w", state).ok());
    machine->kernel().run_to_rest();
  }
  bool may_end(const std::string& by) {
    return judge->may_end({EngineRequest::Type::kEnded, "default/w", by});
  }
  bool may_take_back(const std::string& by) {
    return judge->may_take_back_retry({EngineRequest::Type::kRequeue, "default/w", by});
  }
};

TEST_F(RequestJudgeTest, OnlyWhoSaidThatItEndsLaterTellsOfItsEnd) {
  start({}, true);
  ASSERT_EQ(machine->kernel().engine().state(*machine->kernel().engine().find("default/w")),
            WorkloadState::kAdmitted);
  EXPECT_FALSE(may_end("owner")) << "it runs: there is no end to tell of";
  auto object = to_object(*store->find(*rules->scheme.find_by_name("workloads"), "default/w"));
  object["spec"].as_object()["active"] = false;  // which evicts it
  ASSERT_TRUE(machine->objects().update(std::move(object)).ok());
  machine->kernel().run_to_rest();
  ASSERT_TRUE(
      machine->kernel().engine().holds_quota(*machine->kernel().engine().find("default/w")));
  EXPECT_FALSE(may_end("thief"));
  EXPECT_FALSE(may_end("other")) << "it claims the workload, too";
  EXPECT_FALSE(may_end(""));
  EXPECT_TRUE(may_end("owner"));
}

TEST_F(RequestJudgeTest, OnlyWhoAnswersForTheCheckTakesItsRetryBack) {
  struct Case {
    std::vector<std::string> checks;
    std::string retries, by;
    bool may;
  };
  const Case cases[] = {
      {{"a"}, "a", "a", true},
      {{"a"}, "a", "thief", false},
      {{"a", "b"}, "a", "a", true},
      {{"a", "b"}, "a", "b", false},
      {{"outside"}, "outside", "a", false},
      {{"outside"}, "outside", "", false},
      {{"a"}, "", "a", false},  // nobody asked for a Retry
  };
  for (const Case& each : cases) {
    start(each.checks, false);
    if (!each.retries.empty()) retry(each.retries);
    EXPECT_EQ(may_take_back(each.by), each.may) << each.by << " for " << each.retries;
  }
}

TEST_F(RequestJudgeTest, AWorkloadThatIsNotThereIsNobodys) {
  start({}, true);
  EXPECT_FALSE(judge->may_end({EngineRequest::Type::kEnded, "default/x", "owner"}));
  EXPECT_FALSE(judge->may_take_back_retry({EngineRequest::Type::kRequeue, "default/x", "owner"}));
}

}  // namespace
}  // namespace sluice::host
