// Check controllers of plugins, as the host's controller of checks sees them.
#include "host/plugins/bridge_checks.hpp"

#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kCheck =
    R"({"metadata":{"name":"c"},"spec":{"controllerName":"example.com/check"}})";
constexpr const char* kBadCheck =
    R"({"metadata":{"name":"c"},"spec":{"controllerName":"example.com/check-b","parameters":{}}})";
constexpr const char* kForeign = R"({"metadata":{"name":"c"},"spec":{"controllerName":"other"}})";

std::string mode(const std::string& name) { return R"({"mode":")" + name + "\"}"; }

class CheckBridgeTest : public PluginTest {
 protected:
  CheckQuery query(std::uint64_t attempt = 7) const {
    CheckQuery out;
    out.workload = std::make_shared<const api::Workload>(make_workload("w"));
    out.workload_json = R"({"kind":"Workload"})";
    out.check = "c";
    out.check_json = kCheck;
    out.attempt = attempt;
    out.retry_count = 2;
    return out;
  }
  std::vector<std::string> lines() {
    std::vector<std::string> out;
    for (const auto& line : log) out.push_back(line.text);
    log.clear();
    return out;
  }
};

TEST_F(CheckBridgeTest, NamesAreFoundByPlugin) {
  const auto set = load({plugin("filter"), plugin("checks-a")});
  CheckControllers& checks = set->check_controllers();
  EXPECT_TRUE(checks.provides("example.com/check"));
  EXPECT_EQ(checks.plugin_of("example.com/check-b"), "checks-a");
  EXPECT_FALSE(checks.provides("example.com/chec"));
  EXPECT_EQ(checks.plugin_of("other"), "");
  EXPECT_FALSE(load({plugin("filter")})->check_controllers().provides(""));
}

TEST_F(CheckBridgeTest, OneNameHasOnePlugin) {
  EXPECT_EQ(load_error({plugin("checks-a"), plugin("checks-b")}),
            "plugins checks-a and checks-b both answer for the controllerName example.com/check; "
            "only one may: take one of them out of plugins.load");
  EXPECT_EQ(load_error({plugin("checks-a"), plugin("checks-b", R"({"controller":"b"})")}), "");
  EXPECT_THAT(load_error({plugin("checks-a", mode("nobody"))}),
              HasSubstr("plugin checks-a does not say whose checks it answers for"));
}

TEST_F(CheckBridgeTest, ActivityOfChecks) {
  const auto set = load({plugin("checks-a"), plugin("checks-b", R"({"controller":"other"})")});
  CheckControllers& checks = set->check_controllers();
  EXPECT_TRUE(checks.check_changed("c", kCheck)->active);
  const CheckActivity bad = *checks.check_changed("c", kBadCheck);
  EXPECT_FALSE(bad.active);
  EXPECT_EQ(bad.reason, "BadParametersRef");
  EXPECT_EQ(bad.message, "parameters are not for this check");
  lines();
  EXPECT_TRUE(checks.check_changed("c", kForeign)->active);
  EXPECT_THAT(lines(), ElementsAre("gone c", "changed c"));
  checks.check_changed("c", "");
  EXPECT_THAT(lines(), ElementsAre("gone c"));
  EXPECT_EQ(checks.check_changed("c", R"({"spec":{"controllerName":"x"}})")->reason,
            "NoController");
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(CheckBridgeTest, AReportComesThrough) {
  const auto set = load({plugin("checks-a")});
  int woken = 0;
  set->set_wake([&] { ++woken; });
  CheckControllers& checks = set->check_controllers();
  EXPECT_TRUE(checks.begin(query(7)));
  EXPECT_TRUE(checks.begin(query(8)));
  EXPECT_EQ(woken, 2);
  const auto reports = checks.take_reports();
  ASSERT_EQ(reports.size(), 2u);
  const CheckReport& one = reports[0];
  EXPECT_EQ(one.plugin + " " + one.ns + "/" + one.name + " " + one.uid + " " + one.check,
            "checks-a team-a/w uid-w c");
  EXPECT_EQ(one.attempt, 7u);
  EXPECT_EQ(one.state, "Ready");
  EXPECT_EQ(one.message, "fine, w 2");
  EXPECT_EQ(one.pod_set_updates_json, R"([{"name":"main","nodeSelector":{"pool":"a"}}])");
  EXPECT_FALSE(one.requeue_after_seconds);
  EXPECT_EQ(reports[1].attempt, 8u);
  EXPECT_THAT(checks.take_reports(), IsEmpty());
  set->set_wake({});
  checks.begin(query());
  EXPECT_EQ(woken, 2);
}

TEST_F(CheckBridgeTest, WhatIsSaidBesideTheStateIsForPeople) {
  const auto set = load({plugin("checks-a")});
  EXPECT_THAT(set->check_controllers().explain(query()).lines,
              ElementsAre("asked of w", "\uFFFD[31mred"));
  EXPECT_FALSE(set->check_controllers().explain(query()).more_soon);
  CheckQuery foreign = query();
  foreign.check_json = kForeign;
  EXPECT_THAT(set->check_controllers().explain(foreign).lines, IsEmpty());
}

/// What it waits for itself is asked for again, and no fault.
TEST_F(CheckBridgeTest, WhoWaitsForMoreIsAskedAgain) {
  const auto set = load({plugin("checks-a", mode("later"))});
  for (int i = 0; i < 5; ++i) {
    const CheckTelling told = set->check_controllers().explain(query());
    EXPECT_THAT(told.lines, ElementsAre("so far"));
    EXPECT_TRUE(told.more_soon);
  }
  EXPECT_EQ(set->status()[0].faults, 0U);
}

/// Who asks changes nothing, and a fault is no answer.
TEST_F(CheckBridgeTest, WhoTellsMoreWritesNothing) {
  for (const char* what : {"throw", "write"}) {
    const auto set = load({plugin("checks-a", mode(what))});
    EXPECT_THAT(set->check_controllers().explain(query()).lines, IsEmpty()) << what;
  }
}

TEST_F(CheckBridgeTest, RetryAndPreemptionRequired) {
  const auto retry = load({plugin("checks-a", mode("retry"))});
  retry->check_controllers().begin(query());
  EXPECT_EQ(retry->check_controllers().take_reports().at(0).requeue_after_seconds, 30);
  const auto preempt = load({plugin("checks-a", mode("preempt"))});
  preempt->check_controllers().begin(query());
  const auto reports = preempt->check_controllers().take_reports();
  EXPECT_EQ(reports.at(0).state + " " + reports.at(0).reason, "Pending PreemptionRequired");
}

TEST_F(CheckBridgeTest, SenselessReportsAreRefused) {
  for (const auto& [what, text] :
       {std::pair("bad-updates", "pod_set_updates has to be a list"),
        std::pair("bad-label", "pod_set_updates: `labels`: \"a b\" is no key of a label"),
        std::pair("bad-retry", "requeue_after_seconds is -7; a number of seconds or -1")}) {
    const auto set = load({plugin("checks-a", mode(what))});
    lines();
    EXPECT_TRUE(set->check_controllers().begin(query()));
    EXPECT_THAT(set->check_controllers().take_reports(), IsEmpty());
    EXPECT_THAT(lines(), ElementsAre(HasSubstr(text)));
  }
}

TEST_F(CheckBridgeTest, CancelGoesToWhoeverWasAsked) {
  const auto set = load({plugin("checks-a")});
  CheckControllers& checks = set->check_controllers();
  checks.check_changed("c", kCheck);
  lines();
  checks.cancel(query(), "it was evicted");
  EXPECT_THAT(lines(), ElementsAre("cancel w uid-w c 7: it was evicted"));
  CheckQuery gone = query();
  gone.check_json.clear();
  checks.cancel(gone, "the check is gone");
  EXPECT_THAT(lines(), ElementsAre("cancel w uid-w c 7: the check is gone"));
}

TEST_F(CheckBridgeTest, AFaultLeavesTheCheckPending) {
  for (const FailurePolicy policy : {FailurePolicy::kClosed, FailurePolicy::kOpen}) {
    const auto set = load({plugin("checks-a", mode("throw"), policy)});
    CheckControllers& checks = set->check_controllers();
    EXPECT_FALSE(checks.begin(query()));
    const CheckActivity activity = *checks.check_changed("c", kCheck);
    EXPECT_FALSE(activity.active);
    EXPECT_EQ(activity.reason, "PluginFault");
    EXPECT_EQ(activity.message,
              "plugin checks-a, check-controller.check_changed: it failed: no check");
    checks.cancel(query(), "");
    EXPECT_EQ(set->status()[0].faults, 3u);
    EXPECT_THAT(checks.take_reports(), IsEmpty());
  }
  const auto odd = load({plugin("checks-a", mode("unreasonable"))});
  EXPECT_THAT(odd->check_controllers().check_changed("c", kCheck)->message,
              HasSubstr("its answer makes no sense"));
}

}  // namespace
}  // namespace sluice::host
