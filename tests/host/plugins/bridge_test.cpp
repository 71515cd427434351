// How the answers of several plugins are put together.
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using hooks::Mode;
using hooks::SearchVerdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Bridge : public PluginTest {
 protected:
  static hooks::TraitsAnswer ask_traits(PluginSet& set, const api::Workload& workload,
                                        std::string* fault_text = nullptr) {
    hooks::TraitsAnswer answer;
    hooks::Fault fault;
    set.hooks().workload_traits->traits({workload, {}, false}, answer, fault);
    if (fault_text != nullptr) *fault_text = fault.text;
    return answer;
  }
  static hooks::Traits traits_of(PluginSet& set, const api::Workload& workload,
                                 std::string* fault_text = nullptr) {
    return ask_traits(set, workload, fault_text).traits;
  }

  struct Vetoed {
    hooks::VetoAnswer answer;
    hooks::Fault fault;
  };
  static Vetoed veto(PluginSet& set, const api::Workload& preemptor,
                     const std::vector<const api::Workload*>& candidates,
                     hooks::QueueId queue = 9) {
    Vetoed result;
    result.answer.protected_.resize(candidates.size());
    set.hooks().preemption_veto->veto({preemptor, queue, candidates}, result.answer, result.fault);
    return result;
  }
};

TEST_F(Bridge, FiltersAreJoinedAndTheFirstReasonStands) {
  const auto set = load({plugin("filter"), plugin("codes", R"({"skip":1})")});
  auto workload = make_workload("w");
  workload.meta.labels.set("tier", "production");
  EXPECT_THAT(
      ask_filters(*set, workload, {"spot", "spot-large", "on-demand"}).skipped,
      ElementsAre("spot: spot is not for production", "spot-large: spot is not for production"));
  EXPECT_THAT(ask_filters(*set, make_workload("w"), {"spot", "on-demand"}).skipped,
              ElementsAre("on-demand: the configuration says so"));
}

TEST_F(Bridge, KeysOfLocalQueuesComeWithThePluginsName) {
  const auto set = load({plugin("order-a")});
  const auto ask = [&](const char* local_queue) {
    hooks::Ordering out;
    set->hooks().queue_order->local_queue({3, "cq", local_queue}, out);
    return out;
  };
  EXPECT_EQ(ask("ns/7"), (hooks::Ordering{7, "in cq it has this number", "order-a", ""}));
  EXPECT_EQ(ask("ns/other"), hooks::Ordering()) << "nothing was said";
  const hooks::Ordering failed = ask("ns/fails");
  EXPECT_EQ(failed.key, 0);
  EXPECT_THAT(failed.fault, HasSubstr("order-a"));
  EXPECT_THAT(failed.fault, HasSubstr("no key today"));
}

TEST_F(Bridge, KeysOfWorkloadsComeWithTheirTraitsAndClaimNothing) {
  for (const char* policy : {"closed", "open"}) {
    auto config = plugin("order-a");
    if (policy == std::string("open")) config.failure_policy = FailurePolicy::kOpen;
    const auto set = load({config});
    EXPECT_TRUE(set->hooks().queue_order->orders_workloads());
    auto workload = make_workload("w");
    workload.priority = 5;
    const hooks::TraitsAnswer answer = ask_traits(*set, workload);
    EXPECT_EQ(answer.traits.order.key, 5);
    EXPECT_TRUE(answer.claimed_by.empty());
    workload.meta.labels.set("fails", "yes");
    std::string fault;
    const hooks::Traits failed = ask_traits(*set, workload, &fault).traits;
    EXPECT_EQ(failed.order.key, 0) << policy << ": half an answer is none";
    EXPECT_THAT(failed.order.fault, HasSubstr("no workload today"));
    EXPECT_EQ(fault, "") << "the workload is queued all the same";
  }
}

TEST_F(Bridge, OnlyOnePluginGivesAnOrder) {
  const std::string error = load_error({plugin("order-a"), plugin("order-b")});
  EXPECT_THAT(error, HasSubstr("plugins order-a and order-b both provide queue-order/1"));
}

TEST_F(Bridge, AFilterSeesMoreFlavorsThanAGroupMayHold) {
  const auto set = load({plugin("filter")});
  auto workload = make_workload("w");
  workload.meta.labels.set("tier", "production");
  std::vector<std::string_view> flavors(200, "on-demand");
  flavors[199] = "spot";
  EXPECT_EQ(ask_filters(*set, workload, flavors).skipped.size(), 1u);
}

TEST_F(Bridge, SearchVerdictsComeThrough) {
  for (const auto verdict :
       {SearchVerdict::kGoOn, SearchVerdict::kStopHere, SearchVerdict::kStopBest}) {
    const auto set = load(
        {plugin("search-a", "{\"verdict\":" + std::to_string(static_cast<int>(verdict)) + "}")});
    hooks::Fault fault;
    auto* search = set->hooks().flavor_search;
    EXPECT_EQ(search->after_flavor({3, {Mode::kFit, 0}, true, {Mode::kPreempt, 1}}, fault),
              verdict);
    EXPECT_EQ(search->better(3, {Mode::kPreempt, 0}, {Mode::kFit, 0}, fault), true);
    EXPECT_EQ(search->keep_position({3, 1, 0, 0}, fault), false);
    EXPECT_FALSE(fault);
  }
}

TEST_F(Bridge, QueueWatchersHearWithoutASearch) {
  const auto set = load({plugin("rules")});
  EXPECT_EQ(set->hooks().flavor_search, nullptr);  // so core's own policy holds
  api::ClusterQueue queue;
  queue.meta.name = "peaceful";
  set->hooks().queue_watch->queue_changed(4, queue);
  const auto workload = make_workload("w");
  EXPECT_FALSE(veto(*set, workload, {}, 3).answer.may_not_preempt);
  EXPECT_EQ(veto(*set, workload, {}, 4).answer.reason, "this queue is peaceful");
}

TEST_F(Bridge, C12_VetoesProtectCandidatesAndForbid) {
  const auto set = load({plugin("rules")});
  auto safe = make_workload("safe");
  safe.meta.labels.set("protected", "yes");
  const auto other = make_workload("other");
  const auto some = veto(*set, make_workload("w"), {&other, &safe, &other});
  EXPECT_FALSE(some.answer.may_not_preempt);
  EXPECT_THAT(some.answer.protected_, ElementsAre(0, 1, 0));
  EXPECT_EQ(some.answer.by, "rules");  // whoever waits for that is told whose doing it is
  EXPECT_EQ(some.answer.reason, "some of those that it could preempt are protected");
  const auto none = veto(*set, make_workload("w", -1), {});
  EXPECT_TRUE(none.answer.may_not_preempt);
  EXPECT_EQ(none.answer.reason, "its priority is negative");
}

TEST_F(Bridge, D4_FiltersSeeLabelsTaintsAndQuotas) {
  const auto set = load({plugin("sees")});
  const api::LabelMap labels({{"arch", "arm"}, {"zone", "b"}});
  const std::vector<api::Taint> taints = {{"spot", "yes", api::TaintEffect::kNoExecute},
                                          {"old", "", api::TaintEffect::kPreferNoSchedule}};
  const std::vector<hooks::FlavorFacts> facts = {{"spot", &labels, &taints}, {"gone", {}, {}}};
  const std::vector<std::string_view> names = {"spot", "gone"};
  api::ClusterQueue queue;
  queue.meta.name = "cq";
  queue.cohort = "all";
  api::ResourceQuota quota;
  quota.resource = "cpu";
  quota.nominal = api::Quantity::of_units(4);
  quota.borrowing_limit = api::Quantity::of_milli(500);
  queue.resource_groups = {{{"cpu"}, {{"spot", {quota}}}}};

  hooks::FilterAnswer answer{std::vector<std::uint8_t>(2, 0), std::vector<std::string>(2), {}};
  hooks::Fault fault;
  set->hooks().flavor_filter->filter({make_workload("w"), 0, 0, names, facts, &queue}, answer,
                                     fault);
  // In milli-cpu: nominal, borrowing limit, lending limit.
  EXPECT_THAT(answer.reasons,
              ElementsAre("spot: arch=arm zone=b zone b spot=yes:NoExecute old=:PreferNoSchedule "
                          "4000/500/- of cq in all",
                          "gone: of cq in all"));
}

TEST_F(Bridge, D4_AProtectionHasAReason) {
  const auto set = load({plugin("sees")});
  auto runs = make_workload("runs");
  runs.status.conditions = {{"Admitted", "True", "Admitted", "", 60 * kSecond, 0}};
  auto stopped = make_workload("stopped");
  stopped.status.conditions = {{"Admitted", "False", "Preempted", "", 60 * kSecond, 0}};
  const std::vector<const api::Workload*> candidates = {&stopped, &runs};
  api::ClusterQueue queue;
  queue.meta.name = "cq";
  hooks::VetoAnswer answer;
  hooks::Fault fault;
  set->hooks().preemption_veto->veto({make_workload("w"), 0, candidates, &queue}, answer, fault);
  EXPECT_THAT(answer.protected_, ElementsAre(0, 1));
  EXPECT_EQ(answer.by, "sees");
  EXPECT_EQ(answer.reason,
            "some of those that it could preempt are protected: it runs since "
            "1970-01-01T00:01:00Z, not for cq");
}

TEST_F(Bridge, AFaultyVetoIsAVetoWhenClosedAndNoneWhenOpen) {
  auto safe = make_workload("safe");
  safe.meta.labels.set("protected", "yes");
  const auto closed =
      veto(*load({plugin("rules", R"({"mode":"half"})")}), make_workload("w"), {&safe});
  EXPECT_TRUE(closed.answer.may_not_preempt);
  EXPECT_THAT(closed.answer.reason, HasSubstr("preemption-veto.veto: it failed: half way"));
  EXPECT_TRUE(closed.fault);
  const auto open = veto(*load({plugin("rules", R"({"mode":"half"})", FailurePolicy::kOpen)}),
                         make_workload("w"), {&safe});
  EXPECT_FALSE(open.answer.may_not_preempt);
  EXPECT_THAT(open.answer.protected_, ElementsAre(0)) << "half an answer does not count";
  EXPECT_FALSE(open.fault);
}

TEST_F(Bridge, TraitsOfDifferentPluginsAreJoined) {
  const auto set = load(
      {plugin("observer-a", R"({"group":"g1"})"), plugin("observer-b", R"({"no-part":true})")});
  const auto traits = traits_of(*set, make_workload("w"));
  EXPECT_TRUE(traits.has_group);
  EXPECT_EQ(traits.group.id, "g1");
  EXPECT_EQ(traits.group.rank, 3);
  EXPECT_FALSE(traits.group.represents);
  EXPECT_EQ(traits.group.order_as, "team-a/w");
  EXPECT_FALSE(traits.takes_part);
  EXPECT_EQ(traits.takes_no_part_because, "it is a parent");
  EXPECT_THAT(ask_traits(*set, make_workload("w")).claimed_by,
              ElementsAre("observer-a", "observer-b"));
  EXPECT_EQ(traits.conflict, "");
}

TEST_F(Bridge, TwoAnswersToOneTraitAreAConflictThatNamesBoth) {
  const auto set =
      load({plugin("observer-a", R"({"group":"g1"})"), plugin("observer-b", R"({"group":"g2"})")});
  EXPECT_EQ(traits_of(*set, make_workload("w")).conflict,
            "plugins observer-a and observer-b both answer the trait \"group\"; only one of them "
            "may");
}

TEST_F(Bridge, NobodyClaimsAWorkloadThatNobodyAnswersFor) {
  const auto set = load({plugin("observer-a")});
  const auto traits = traits_of(*set, make_workload("w"));
  EXPECT_TRUE(traits.takes_part);
  EXPECT_FALSE(traits.has_group);
  EXPECT_TRUE(ask_traits(*set, make_workload("w")).claimed_by.empty());
}

TEST_F(Bridge, ShapeKeysOfFiltersAndTraitsAreAddedUp) {
  const auto set = load({plugin("observer-a", R"({"shape":"s"})"), plugin("filter")});
  auto workload = make_workload("w");
  EXPECT_EQ(traits_of(*set, workload).shape_key, "s");
  workload.meta.labels.set("tier", "production");
  EXPECT_EQ(traits_of(*set, workload).shape_key, "s\nfilter=10:production");
  EXPECT_THAT(ask_traits(*set, workload).claimed_by, ElementsAre("observer-a"))
      << "a filter's shape key claims nothing";
}

TEST_F(Bridge, FaultyTraits) {
  std::string fault;
  traits_of(*load({plugin("observer-a", R"({"throw-in-traits":true})")}), make_workload("w"),
            &fault);
  EXPECT_EQ(fault, "plugin observer-a, workload-traits.traits: it failed: no traits");
  traits_of(*load({plugin("observer-a", R"({"throw-in-traits":true})", FailurePolicy::kOpen)}),
            make_workload("w"), &fault);
  EXPECT_EQ(fault, "");
}

}  // namespace
}  // namespace sluice::host
