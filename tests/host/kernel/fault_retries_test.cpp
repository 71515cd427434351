// Workloads for which a plugin had no answer: when they are asked about again, and that a fault of
// the moment is over then.
#include "host/kernel/fault_retries.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <string>

#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Time kMinute = 60 * kSecond;

TEST(FaultRetries, PausesDoubleUpToSixteenMinutesAndEndAfterEight) {
  FaultRetries retries;
  Time now = 0;
  for (const Time pause : {1, 2, 4, 8, 16, 16, 16, 16}) {
    retries.note("w", now);
    retries.note("w", now + kSecond);  // it has a time already
    EXPECT_EQ(retries.next(), now + pause * kMinute);
    EXPECT_THAT(retries.take_due(now + pause * kMinute - 1), IsEmpty());
    now += pause * kMinute;
    EXPECT_THAT(retries.take_due(now), ElementsAre("w"));
  }
  retries.note("w", now);
  EXPECT_EQ(retries.next(), kNever);
  retries.forget("w");
  retries.note("w", now);
  EXPECT_EQ(retries.next(), now + kMinute) << "its first fault again";
}

TEST(FaultRetries, AreTakenByTimeAndKey) {
  FaultRetries retries;
  retries.note("c", 0);
  retries.note("b", 5);
  retries.note("a", 5);
  retries.forget("c");
  EXPECT_THAT(retries.take_due(5 + kMinute), ElementsAre("a", "b"));
  EXPECT_THAT(retries.take_due(kNever), IsEmpty());
  EXPECT_EQ(retries.next(), kNever);
}

TEST(FaultRetries, OfVeryManySomeAreAskedAboutInATurn) {
  FaultRetries retries;
  for (std::size_t i = 0; i < 2 * FaultRetries::kAtOnce + 1; ++i)
    retries.note("w" + std::to_string(i), 0);
  EXPECT_EQ(retries.take_due(kMinute).size(), FaultRetries::kAtOnce);
  EXPECT_EQ(retries.next(), kMinute) << "the others are due";
  EXPECT_EQ(retries.take_due(kMinute).size(), FaultRetries::kAtOnce);
  EXPECT_EQ(retries.take_due(kMinute).size(), 1U);
  EXPECT_EQ(retries.next(), kNever);
}

/// Has no answer for so many calls of each hook.
struct Stumbling final : hooks::WorkloadTraits, hooks::FlavorFilter {
  int of_traits = 0;
  mutable int of_filter = 0;
  void traits(const hooks::TraitsQuery&, hooks::TraitsAnswer&, hooks::Fault& fault) override {
    if (of_traits-- > 0) fault = {"p", "it took too long"};
  }
  void filter(const hooks::FilterQuery&, hooks::FilterAnswer&, hooks::Fault& fault) const override {
    if (of_filter-- > 0) fault = {"p", "it took too long"};
  }
};

struct RetriedWorkload : ::testing::Test {
  Configuration configuration;
  VirtualClock clock;
  Stumbling plugin;
  std::unique_ptr<Rules> rules = with(plugin, clock);
  LiveStore store{rules->scheme, nullptr};
  CountingIds ids;
  Machine machine{configuration, *rules, {.store = store, .ids = ids, .controllers = false}};
  Time now = *parse_time("2026-01-01T00:00:00Z");

  RetriedWorkload() {
    machine.begin_instant(now);
    for (const char* text :
         {R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})",
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
           "metadata":{"name":"f"}})",
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
           "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
           {"name":"f","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}})",
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq",
           "namespace":"default"},"spec":{"clusterQueue":"cq"}})"})
      create(text);
    machine.run_to_rest();
  }
  static std::unique_ptr<Rules> with(Stumbling& plugin, const PluginClock& clock) {
    auto rules = Rules::without_plugins(clock);
    rules->hooks.workload_traits = &plugin;
    rules->hooks.flavor_filter = &plugin;
    rules->hooks.plugins = {"p"};
    return rules;
  }
  void create(const char* text) {
    const auto done = machine.objects().create(boost::json::parse(text).as_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  bool runs_after(Duration time) {
    now += time;
    machine.begin_instant(now);
    machine.run_to_rest();
    return machine.kernel().engine().holds_quota(*machine.kernel().engine().find("default/w"));
  }
  void submit() {
    create(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",
        "namespace":"default"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,
        "template":{"spec":{"containers":[{"name":"c",
        "resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  }
};

TEST_F(RetriedWorkload, StartsOnceItsPluginAnswersThoughNothingElseChanges) {
  plugin.of_traits = 1;
  submit();
  EXPECT_FALSE(runs_after(59 * kSecond));
  plugin.of_filter = 1;  // the next time: the second fault
  EXPECT_FALSE(runs_after(kSecond));
  EXPECT_FALSE(runs_after(2 * kMinute - kSecond));
  EXPECT_EQ(machine.kernel().next_timer(), now + kSecond);
  EXPECT_TRUE(runs_after(kSecond));
}

TEST_F(RetriedWorkload, IsGivenUpAfterEightSoThatSimulationsEnd) {
  plugin.of_traits = plugin.of_filter = 1'000;
  submit();
  machine.run_to_rest();
  int asked = 0;
  for (Time next = machine.kernel().next_timer(); next != kNever && asked < 20;
       next = machine.kernel().next_timer(), ++asked)
    EXPECT_FALSE(runs_after(next - now));
  EXPECT_EQ(asked, FaultRetries::kMost);
}

}  // namespace
}  // namespace sluice::host
