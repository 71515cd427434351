// A plugin that misbehaves: the fault is contained, named, counted, and answered by the default.
#include <thread>

#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Faults : public PluginTest {
 protected:
  Faults() { production_.meta.labels.set("tier", "production"); }

  std::string fault_of(const PluginConfig& config) {
    const auto set = load({config});
    return ask_filters(*set, production_, {"on-demand", "spot"}).fault.text;
  }

  /// About another workload each time: faults about the same one count once.
  auto ask_anew(PluginSet& set) {
    api::Workload workload = make_workload("w" + std::to_string(++asked_));
    workload.meta.labels.set("tier", "production");
    return ask_filters(set, workload, {"spot"});
  }

  api::Workload production_ = make_workload("w");
  int asked_ = 0;
};

TEST_F(Faults, EveryKindHasItsSentence) {
  EXPECT_EQ(fault_of(plugin("filter", R"({"mode":"throw"})")),
            "plugin filter, flavor-filter.filter: it failed: boom");
  EXPECT_EQ(fault_of(plugin("filter", R"({"mode":"throw-int"})")),
            "plugin filter, flavor-filter.filter: it failed: it threw something that is no "
            "std::exception");
  EXPECT_EQ(fault_of(plugin("crosses")),
            "plugin crosses, flavor-filter.filter: it threw: past the line");
  EXPECT_EQ(fault_of(plugin("codes", R"({"code":77})")),
            "plugin codes, flavor-filter.filter: it answered the unknown code 77");
  EXPECT_EQ(fault_of(plugin("codes", R"({"code":1})")),  // RETRY is no answer of a filter
            "plugin codes, flavor-filter.filter: it answered the unknown code 1");
  EXPECT_EQ(fault_of(plugin("codes", R"({"code":3})")),
            "plugin codes, flavor-filter.filter: it failed: the database is away");
  EXPECT_EQ(fault_of(plugin("codes", R"({"skip":2})")),  // there are flavors 0 and 1
            "plugin codes, flavor-filter.filter: its answer makes no sense: it skips a flavor that "
            "it was not asked about");
  EXPECT_EQ(fault_of(plugin("codes", R"({"skip":1})")), "");
}

TEST_F(Faults, ClosedHandsTheFaultToTheEngine) {
  const auto set = load({plugin("filter", R"({"mode":"throw"})")});
  const auto result = ask_filters(*set, production_, {"spot"});
  EXPECT_EQ(result.fault.plugin, "filter");
  EXPECT_TRUE(result.fault);
}

TEST_F(Faults, OpenAnswersWithTheDefaultAndDropsHalfAnAnswer) {
  const auto set = load({plugin("filter", R"({"mode":"half"})", FailurePolicy::kOpen),
                         plugin("codes", R"({"skip":0})")});
  const auto result = ask_filters(*set, production_, {"on-demand", "spot"});
  EXPECT_FALSE(result.fault) << result.fault.text;
  EXPECT_THAT(result.skipped, ElementsAre("on-demand: the configuration says so"));
  EXPECT_EQ(set->status()[0].faults, 1u);
}

TEST_F(Faults, CallsThatTakeTooLong) {
  limits.cycle_budget = 10 * kMillisecond;  // and a fault beyond 10 × 10 ms
  const auto set = load({plugin("filter")});
  clock.call_takes = 10 * kMillisecond;
  EXPECT_FALSE(ask_filters(*set, production_, {"spot"}).fault);
  EXPECT_THAT(log, IsEmpty());

  clock.call_takes = 11 * kMillisecond;  // beyond the budget: a warning, the answer counts
  EXPECT_THAT(ask_filters(*set, production_, {"spot"}).skipped, ::testing::SizeIs(1));
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].level, 2);
  EXPECT_EQ(log[0].text, "flavor-filter.filter took 11 ms, its budget is 10 ms");
  ask_filters(*set, production_, {"spot"});
  EXPECT_EQ(log.size(), 1u) << "one warning in a minute is enough";
  clock.time += 60 * kSecond;
  ask_filters(*set, production_, {"spot"});
  EXPECT_EQ(log.size(), 2u);

  clock.call_takes = 2300 * kMillisecond;
  const auto late = ask_filters(*set, production_, {"spot"});
  EXPECT_EQ(late.fault.text,
            "plugin filter, flavor-filter.filter: it took 2.3 s, the limit is 100 ms");
  EXPECT_THAT(late.skipped, IsEmpty());
}

TEST_F(Faults, CountedPerHookWithTime) {
  const auto set = load({plugin("filter")});
  clock.call_takes = 2 * kMillisecond;
  for (int i = 0; i < 3; ++i) ask_filters(*set, production_, {"spot"});
  const auto status = set->status()[0];
  ASSERT_EQ(status.hooks.size(), 1u);
  EXPECT_EQ(status.hooks[0].hook, "flavor-filter.filter");
  EXPECT_EQ(status.hooks[0].stats.calls, 3u);
  EXPECT_EQ(status.hooks[0].stats.time, 6 * kMillisecond);
  EXPECT_EQ(status.hooks[0].stats.faults, 0u);
}

TEST_F(Faults, FiveInAMinuteQuarantineThePlugin) {
  const auto set = load({plugin("filter", R"({"mode":"throw"})")});
  for (int i = 0; i < 4; ++i) ask_anew(*set);
  clock.time += 60 * kSecond;  // the first four are out of the window now
  for (int i = 0; i < 4; ++i) ask_anew(*set);
  EXPECT_FALSE(set->status()[0].quarantined);
  ask_anew(*set);
  EXPECT_TRUE(set->status()[0].quarantined);
  EXPECT_EQ(set->status()[0].faults, 9u);

  const auto refused = ask_anew(*set);
  EXPECT_EQ(refused.fault.text,
            "plugin filter is quarantined after 5 faults, the last: plugin filter, "
            "flavor-filter.filter: it failed: boom");
  EXPECT_EQ(set->status()[0].hooks[0].stats.calls, 9u) << "a quarantined plugin is not called";

  EXPECT_FALSE(set->reset_quarantine("nobody"));
  EXPECT_TRUE(set->reset_quarantine("filter"));
  EXPECT_THAT(ask_anew(*set).fault.text, HasSubstr("it failed: boom"));
}

// Twenty within a second are one, as far as the quarantine goes: others may start.
TEST_F(Faults, OneWorkloadAloneQuarantinesNoPlugin) {
  const auto set = load({plugin("filter", R"({"mode":"throw"})")});
  for (int i = 0; i < 20; ++i) ask_filters(*set, production_, {"spot"});
  EXPECT_FALSE(set->status()[0].quarantined);
  EXPECT_EQ(set->status()[0].faults, 20u);
}

TEST_F(Faults, AnOpenPluginInQuarantineIsAsIfAbsent) {
  const auto set = load({plugin("filter", R"({"mode":"throw"})", FailurePolicy::kOpen)});
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(ask_anew(*set).fault);
  EXPECT_TRUE(set->status()[0].quarantined);
  EXPECT_EQ(set->status()[0].hooks[0].stats.calls, 5u);
}

TEST_F(Faults, ManyThreadsAtOnce) {
  const auto set =
      load({plugin("filter"), plugin("codes", R"({"code":77})", FailurePolicy::kOpen)});
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        right += ask_filters(*set, production_, {"spot"}).skipped.size() == 1 ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 2000);
  EXPECT_EQ(set->status()[0].hooks[0].stats.calls, 2000u);
}

TEST_F(Faults, SearchHasNoAnswerWhenOpenSoTheBuiltInPolicyStands) {
  for (const char* config : {R"({"verdict":7})", R"({"throw":true})"}) {
    const auto closed = load({plugin("search-a", config)});
    const auto open = load({plugin("search-a", config, FailurePolicy::kOpen)});
    const hooks::SearchStep fit{0, {hooks::Mode::kFit, 2}, false, {}};
    const hooks::SearchStep preempt{0, {hooks::Mode::kPreempt, 0}, false, {}};
    hooks::Fault fault;
    closed->hooks().flavor_search->after_flavor(fit, fault);
    EXPECT_THAT(fault.text, HasSubstr("plugin search-a, flavor-search.after_flavor: "));
    fault = {};
    EXPECT_EQ(open->hooks().flavor_search->after_flavor(fit, fault), std::nullopt);
    EXPECT_EQ(open->hooks().flavor_search->after_flavor(preempt, fault), std::nullopt);
    EXPECT_FALSE(fault);
  }
}

}  // namespace
}  // namespace sluice::host
