// What becomes of a family, as tables: the options as they are, and what is decided.
#include "../decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sluice/cpp/time.hpp>

namespace options {
namespace {

using State = Option::State;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Nanoseconds kHour = 3600 * kSecondNs;

/// Three flavors and options a, b, c; the parent p came at 0.
struct Decide : ::testing::Test {
  Policy policy;
  Situation now;

  Decide() {
    policy.on_success = OnSuccess::kRemoveLower;
    policy.groups = {{"a", "b", "c"}};
    policy.resources = {{"cpu"}};
    for (const std::string name : {"a", "b", "c"}) policy.options.push_back({name, {name}, 0, {}});
    now.parent = "p";
    now.marked = true;
    now.policy = &policy;
  }
  Option& add(const std::string& name, State state, const std::string& held = "") {
    Option& option = now.options.emplace_back();
    option.name = "p-option-" + name;
    option.spec_name = name;
    option.flavors = {name};
    for (std::size_t i = 0; i < policy.options.size(); ++i)
      if (policy.options[i].name == name) option.rank = Policy::rank_of(i);
    option.state = state;
    if (state == State::kReserved || state == State::kAdmitted)
      option.placement = {{{"cpu", name}}};
    option.held = held;
    option.message = "as it was";
    return option;
  }
  void admitted(const std::string& name, Nanoseconds when = 0) {
    now.record.admitted = "p-option-" + name;
    now.record.first = {{name, when}};
  }
  /// `+name` turned on, `-name(held)` turned off.
  static std::string changes(const Plan& plan) {
    std::string out;
    for (const Change& change : plan.change)
      out += (out.empty() ? "" : " ") + std::string(change.active ? "+" : "-") +
             change.name.substr(9) + (change.held.empty() ? "" : "(" + change.held + ")");
    return out;
  }
  static std::string created(const Plan& plan) {
    std::string out;
    for (const Creation& each : plan.create)
      out += (out.empty() ? "" : " ") + each.spec.name + (each.held.empty() ? "" : ":" + each.held);
    return out;
  }
  static std::string states(const Plan& plan) {
    std::string out;
    for (const OptionStatus& each : plan.status)
      out += (out.empty() ? "" : " ") + each.name.substr(9) + "=" + each.state;
    return out;
  }
  /// What was decided is done: the options are as the plan says.
  void follow(const Plan& plan) {
    now.record = plan.record;
    for (const Change& change : plan.change)
      for (Option& option : now.options)
        if (option.name == change.name) {
          option.state = change.active ? State::kPending : State::kInactive;
          option.held = change.held;
        }
    for (const Creation& each : plan.create)
      add(each.spec.name, each.held.empty() ? State::kPending : State::kInactive, each.held);
  }
};

// ---- from the start

TEST_F(Decide, AllOptionsAreMadeAtOnceBestFirst) {
  const Plan plan = decide(now);
  EXPECT_EQ(created(plan), "a b c");
  EXPECT_EQ(plan.create[1].name, "p-option-b");
  EXPECT_EQ(plan.create[1].rank, 4);
  EXPECT_EQ(states(plan), "a=Pending b=Pending c=Pending");
  EXPECT_FALSE(plan.collapse);
}

TEST_F(Decide, DecidingAgainDecidesNothing) {
  follow(decide(now));
  const Plan again = decide(now);
  EXPECT_EQ(created(again) + changes(again), "");
  EXPECT_TRUE(again.remove.empty());
}

TEST_F(Decide, AnOptionWithADelayExistsFromTheStartAndIsOff) {
  policy.options[1].create_delay_seconds = 7200;
  const Plan plan = decide(now);
  EXPECT_EQ(created(plan), "a b:CreateDelay c");
  EXPECT_EQ(states(plan), "a=Pending b=Deactivated c=Pending");
  EXPECT_EQ(plan.next, 2 * kHour);
  EXPECT_EQ(plan.status[1].message,
            "Deactivated due to its createDelaySeconds, which end at 1970-01-01T02:00:00Z");
  follow(plan);
  now.now = 2 * kHour - 1;
  EXPECT_EQ(changes(decide(now)), "");
  now.now = 2 * kHour;
  EXPECT_EQ(changes(decide(now)), "+b");
}

TEST_F(Decide, ADelayedOptionStaysOffWhenPolicyHasExcludedItMeanwhile) {
  policy.options[2].create_delay_seconds = 60;
  add("a", State::kAdmitted);
  add("b", State::kPending);
  add("c", State::kInactive, std::string(kHeldByDelay));
  now.now = 120 * kSecondNs;
  const Plan plan = decide(now);
  EXPECT_EQ(changes(plan), "-b(Policy)");
  EXPECT_EQ(plan.status[2].message, plan.status[1].message);
}

TEST_F(Decide, TheParentsOwnLimitNarrowsItsOptions) {
  now.allowed = {"c", "a"};
  EXPECT_EQ(created(decide(now)), "a c");
}

TEST_F(Decide, ANameThatIsTakenIsAvoided) {
  now.taken = {"p-option-b"};
  const Plan plan = decide(now);
  EXPECT_THAT(plan.create[1].name, ::testing::StartsWith("p-option-b-"));
}

// ---- one is admitted

TEST_F(Decide, WhatAnAdmissionStops) {
  struct Row {
    OnSuccess policy;
    std::string target, admitted, expected;
  };
  for (const Row& row : {
           Row{OnSuccess::kRemoveOther, "", "b", "-a(Policy) -c(Policy)"},
           Row{OnSuccess::kRemoveLower, "", "a", "-b(Policy) -c(Policy)"},
           Row{OnSuccess::kRemoveLower, "", "b", "-c(Policy)"},
           Row{OnSuccess::kRemoveLower, "", "c", ""},
           Row{OnSuccess::kRemoveBelowTarget, "a", "c", "-b(Policy)"},
           Row{OnSuccess::kRemoveBelowTarget, "b", "c", ""},
           // Nothing goes down, though c is not below the target.
           Row{OnSuccess::kRemoveBelowTarget, "c", "b", "-c(Policy)"},
           Row{OnSuccess::kRemoveBelowTarget, "a", "a", "-b(Policy) -c(Policy)"},
       }) {
    now.options.clear();
    policy.on_success = row.policy;
    policy.target = row.target;
    for (const std::string name : {"a", "b", "c"})
      add(name, name == row.admitted ? State::kAdmitted : State::kPending);
    const Plan plan = decide(now);
    EXPECT_EQ(changes(plan), row.expected) << row.admitted;
    EXPECT_EQ(plan.record.admitted, "p-option-" + row.admitted);
    EXPECT_TRUE(plan.migrated_from.empty());
  }
}

TEST_F(Decide, AnOptionThatOnlyHoldsAReservationStopsNobody) {
  add("a", State::kReserved);
  add("b", State::kReserved);
  add("c", State::kPending);
  EXPECT_EQ(changes(decide(now)), "");
}

TEST_F(Decide, AMigrationTurnsTheLoserOffForGood) {
  admitted("c");
  add("a", State::kPending);
  add("b", State::kAdmitted);
  add("c", State::kInactive).evicted = kMigration;
  const Plan plan = decide(now);
  EXPECT_EQ(plan.migrated_from, "p-option-c");
  EXPECT_EQ(plan.record.admitted, "p-option-b");
  EXPECT_EQ(changes(plan), "-c(Policy)");
  EXPECT_TRUE(plan.lost.empty());
}

// The controller ended between the admission of the better one and the end of the other.
TEST_F(Decide, InTheMidstOfAMoveTheOneThatWasKnownIsTheOneToBeReplaced) {
  for (const auto& [from, to] : {std::pair("b", "a"), std::pair("a", "b")}) {
    now.options.clear();
    admitted(from);
    for (const std::string name : {"a", "b"}) add(name, State::kAdmitted);
    add("c", State::kInactive, std::string(kHeldByPolicy));
    const Plan plan = decide(now);
    EXPECT_EQ(plan.record.admitted, std::string("p-option-") + from) << "to " << to;
    EXPECT_EQ(plan.migrated_from, "");
    EXPECT_EQ(plan.lost, "");
  }
}

TEST_F(Decide, ADeleteDelayCountsFromTheFirstAdmissionOfAnother) {
  policy.options[0].delete_delay_seconds = 3600;
  add("a", State::kPending);
  add("b", State::kPending);
  add("c", State::kAdmitted);
  now.now = kHour;
  Plan plan = decide(now);
  EXPECT_EQ(changes(plan), "");
  EXPECT_EQ(plan.next, 2 * kHour);
  follow(plan);
  // b takes over; a's time runs on from c's admission.
  now.options[1].state = State::kAdmitted;
  now.options[1].placement = {{{"cpu", "b"}}};
  now.options[2].state = State::kInactive;
  now.options[2].evicted = kMigration;
  now.now = kHour + kHour / 2;
  plan = decide(now);
  EXPECT_EQ(plan.next, 2 * kHour);
  follow(plan);
  now.now = 2 * kHour;
  plan = decide(now);
  EXPECT_EQ(changes(plan), "-a(Policy)");
  EXPECT_THAT(plan.change[0].why, HasSubstr("deleteDelaySeconds, 3600 s"));
}

TEST_F(Decide, ADeleteDelayDoesNotCountTheOptionsOwnAdmission) {
  policy.options[0].delete_delay_seconds = 3600;
  add("a", State::kAdmitted);
  add("b", State::kInactive, std::string(kHeldByPolicy));
  add("c", State::kInactive, std::string(kHeldByPolicy));
  now.now = kHour;
  EXPECT_FALSE(decide(now).next.has_value());
}

// ---- evictions

TEST_F(Decide, AnEvictionOfTheAdmittedOneBeginsTheRaceAnew) {
  policy.options[1].create_delay_seconds = 60;
  for (const std::string reason : {"Preempted", "PodsReadyTimeout", "ClusterQueueStopped"}) {
    now.options.clear();
    admitted("a");
    now.now = kHour;
    add("a", State::kPending).evicted = reason;
    add("b", State::kInactive, std::string(kHeldByPolicy));
    add("c", State::kInactive, std::string(kHeldByPolicy));
    const Plan plan = decide(now);
    EXPECT_EQ(plan.lost_reason, reason);
    EXPECT_EQ(plan.record.since, kHour);
    EXPECT_TRUE(plan.record.first.empty());
    EXPECT_EQ(changes(plan), "+c");  // b stays off, for another reason
    EXPECT_THAT(plan.status[1].message, HasSubstr("createDelaySeconds"));
    EXPECT_EQ(plan.next, kHour + 60 * kSecondNs);
  }
}

TEST_F(Decide, APreemptionOfOneThatWaitsForItsChecksBeginsAnewToo) {
  now.now = kHour;
  add("a", State::kPending).preempted_at = kHour;
  add("b", State::kInactive);  // rejected
  add("c", State::kReserved);
  const Plan plan = decide(now);
  EXPECT_EQ(plan.record.since, kHour);
  EXPECT_EQ(changes(plan), "+b");
  follow(plan);
  EXPECT_EQ(changes(decide(now)), "");  // once
}

TEST_F(Decide, APreemptedUpgradeLeavesTheAdmittedOneAlone) {
  admitted("c", 1);
  now.now = kHour;
  add("a", State::kPending).preempted_at = kHour;
  add("b", State::kPending);
  add("c", State::kAdmitted);
  const Plan plan = decide(now);
  EXPECT_EQ(plan.record.since, 0);
  EXPECT_EQ(changes(plan), "");
}

TEST_F(Decide, TurningTheParentOffTurnsAllOptionsOffAndOnAgain) {
  admitted("b");
  add("a", State::kPending);
  add("b", State::kAdmitted);
  add("c", State::kInactive, std::string(kHeldByPolicy));
  now.active = false;
  Plan plan = decide(now);
  EXPECT_EQ(changes(plan), "-a(Parent) -b(Parent)");
  follow(plan);
  now.options[1].evicted = "Deactivated";
  plan = decide(now);
  EXPECT_EQ(plan.lost, "p-option-b");
  follow(plan);
  now.active = true;
  now.now = kHour;
  plan = decide(now);
  EXPECT_EQ(changes(plan), "+a +b +c");
  EXPECT_EQ(plan.record.since, kHour);
}

// ---- rejections

TEST_F(Decide, ARejectedOptionStaysOffAndTheOthersGoOn) {
  add("a", State::kInactive).evicted = "DeactivatedDueToAdmissionCheck";
  add("b", State::kPending);
  add("c", State::kPending);
  const Plan plan = decide(now);
  EXPECT_EQ(changes(plan), "");
  EXPECT_TRUE(plan.rejected.empty());
  EXPECT_EQ(states(plan), "a=Deactivated b=Pending c=Pending");
}

TEST_F(Decide, TheParentIsRejectedWhenAllOptionsAre) {
  for (const std::string name : {"a", "b", "c"}) add(name, State::kInactive).message = "no " + name;
  EXPECT_EQ(decide(now).rejected,
            "All options were rejected: p-option-a (no a); p-option-b (no b); p-option-c (no c)");
}

TEST_F(Decide, OneThatIsDelayedIsNotRejected) {
  policy.options[2].create_delay_seconds = 60;
  add("a", State::kInactive);
  add("b", State::kInactive);
  add("c", State::kInactive, std::string(kHeldByDelay));
  EXPECT_TRUE(decide(now).rejected.empty());
}

TEST_F(Decide, ARejectionOfTheAdmittedOneForgivesNobody) {
  admitted("a");
  now.now = kHour;
  add("a", State::kInactive).evicted = "DeactivatedDueToAdmissionCheck";
  add("b", State::kInactive);
  add("c", State::kInactive, std::string(kHeldByPolicy));
  EXPECT_EQ(changes(decide(now)), "+c");
}

TEST_F(Decide, WhoRanTooLongIsNotTriedOnAnotherOption) {
  admitted("a");
  Option& a = add("a", State::kInactive);
  a.evicted = "DeactivatedDueToMaximumExecutionTimeExceeded";
  add("b", State::kInactive, std::string(kHeldByPolicy));
  now.active = false;  // the limit is the parent's
  const Plan plan = decide(now);
  EXPECT_EQ(plan.rejected, "");
  EXPECT_EQ(changes(plan), "-a(Parent)");  // b is off already
}

// ---- the end

TEST_F(Decide, TheParentsEndIsTheEndOfItsOptions) {
  admitted("b");
  now.finished = true;
  add("a", State::kPending);
  add("b", State::kFinished);
  add("c", State::kInactive, std::string(kHeldByPolicy));
  const Plan plan = decide(now);
  EXPECT_EQ(changes(plan), "-a(Parent)");  // c is off already
  EXPECT_EQ(states(plan), "a=Deactivated b=Finished c=Deactivated");
}

TEST_F(Decide, AfterAnOptionHasFinishedNoneIsMadeOrTurnedOn) {
  admitted("b");
  add("a", State::kPending);
  add("b", State::kFinished);
  const Plan plan = decide(now);
  EXPECT_EQ(changes(plan), "-a(Parent)");
  EXPECT_TRUE(plan.create.empty());
}

// ---- the policy changes

TEST_F(Decide, WithoutAPolicyItCollapsesUnlessAnOptionRuns) {
  now.policy = nullptr;
  add("a", State::kPending);
  add("b", State::kPending);
  Plan plan = decide(now);
  EXPECT_TRUE(plan.collapse);
  EXPECT_THAT(plan.remove, ElementsAre("p-option-a", "p-option-b"));
  now.options[0].state = State::kAdmitted;
  plan = decide(now);
  EXPECT_FALSE(plan.collapse);
  EXPECT_THAT(plan.remove, ElementsAre("p-option-b"));
  EXPECT_EQ(plan.record.admitted, "p-option-a");
}

TEST_F(Decide, OptionsThatAreNotWantedGoAndNewOnesCome) {
  add("b", State::kPending);
  add("x", State::kPending);
  const Plan plan = decide(now);
  EXPECT_THAT(plan.remove, ElementsAre("p-option-x"));
  EXPECT_EQ(created(plan), "a c");
}

TEST_F(Decide, AnAdmittedOptionThatIsNotWantedRunsOnAndMayBeReplaced) {
  Option& x = add("x", State::kAdmitted);
  x.flavors = {"gone"};
  x.rank = 4;
  const Plan plan = decide(now);
  EXPECT_TRUE(plan.remove.empty());
  EXPECT_EQ(created(plan), "a b c");
  ASSERT_EQ(plan.rerank.size(), 1U);
  EXPECT_EQ(plan.rerank[0].second, 7);  // below all
}

TEST_F(Decide, AnOptionWithOtherFlavorsOrPodSetsIsMadeAnew) {
  add("a", State::kPending).flavors = {"b"};
  add("b", State::kReserved).outdated = true;
  add("c", State::kPending);
  const Plan plan = decide(now);
  EXPECT_THAT(plan.remove, ElementsAre("p-option-a", "p-option-b"));
  EXPECT_EQ(created(plan), "");  // when they are gone
}

TEST_F(Decide, AnEasierPolicyTurnsOptionsOnAgain) {
  admitted("b");
  policy.on_success = OnSuccess::kRemoveLower;
  add("a", State::kInactive, std::string(kHeldByPolicy));
  add("b", State::kAdmitted);
  add("c", State::kInactive, std::string(kHeldByPolicy));
  EXPECT_EQ(changes(decide(now)), "+a");
}

TEST_F(Decide, ANewOrderOfFlavorsGivesNewRanks) {
  std::swap(policy.options[0], policy.options[1]);
  policy.groups = {{"b", "a", "c"}};
  Option& a = add("a", State::kPending);
  a.rank = 2;
  add("b", State::kPending).rank = 4;
  add("c", State::kPending);
  const Plan plan = decide(now);
  EXPECT_THAT(plan.rerank,
              ElementsAre(::testing::Pair("p-option-b", 2), ::testing::Pair("p-option-a", 4)));
  EXPECT_EQ(states(plan), "b=Pending a=Pending c=Pending");
}

// ---- the right to preempt

TEST_F(Decide, TheRightToPreemptLastsAsLongAsWhatCameOfIt) {
  struct Row {
    State state;
    bool waits, keeps;
  };
  for (const Row& row : {Row{State::kPending, true, true}, Row{State::kPending, false, false},
                         Row{State::kReserved, false, true}, Row{State::kAdmitted, false, false},
                         Row{State::kInactive, false, false}}) {
    now.options.clear();
    now.record.preempts = "p-option-b";
    add("a", State::kPending);
    add("b", row.state).waits_for_victims = row.waits;
    add("c", State::kPending);
    EXPECT_EQ(decide(now).record.preempts == "p-option-b", row.keeps);
  }
}

TEST(TimeText, IsRfc3339) {
  EXPECT_EQ(sluice::time_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(sluice::time_text(1767603600 * kSecondNs + 5), "2026-01-05T09:00:00Z");
}

}  // namespace
}  // namespace options
