// Notifications: in order, at least once, with bounded retry, and nobody waits for another plugin.
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Notifying : public PluginTest {
 protected:
  static hooks::Notification about(std::uint64_t sequence) {
    hooks::Notification told;
    told.sequence = sequence;
    told.event = hooks::Event::kAdmitted;
    told.workload = std::make_shared<const api::Workload>(make_workload("w"));
    return told;
  }

  /// The same event, or another one, of a workload that these plugins claim.
  static hooks::Notification about(std::uint64_t sequence, hooks::Event event,
                                   std::vector<std::string> claimed_by) {
    hooks::Notification told = about(sequence);
    told.event = event;
    told.claimed_by = std::move(claimed_by);
    return told;
  }

  /// `plugin sequence` of what was taken since the last call.
  static std::vector<std::string> taken(PluginSet& set) {
    std::vector<std::string> all;
    for (const PluginEvent& event : set.take_events())
      all.push_back(event.plugin + " " + event.message);
    return all;
  }
};

TEST_F(Notifying, AllAreToldInOrder) {
  const auto set = load({plugin("observer-a"), plugin("filter"), plugin("observer-b")});
  set->notify(about(1));
  set->notify(about(2));
  EXPECT_THAT(taken(*set), ElementsAre("observer-a sequence 1", "observer-a sequence 2",
                                       "observer-b sequence 1", "observer-b sequence 2"));
  EXPECT_EQ(set->next_timer(), kNever);
}

TEST_F(Notifying, ARetryKeepsTheOrderAndHoldsUpNobodyElse) {
  const auto set = load({plugin("observer-a", R"({"retries":2})"), plugin("observer-b")});
  set->notify(about(1));
  set->notify(about(2));
  EXPECT_THAT(taken(*set), ElementsAre("observer-b sequence 1", "observer-b sequence 2"));

  // The pauses: 100 ms, then 200 ms.
  EXPECT_EQ(set->next_timer(), clock.time + 100 * kMillisecond);
  clock.time += 99 * kMillisecond;
  set->fire_timers(clock.time);
  EXPECT_THAT(taken(*set), ElementsAre());
  clock.time += 1 * kMillisecond;
  set->fire_timers(clock.time);
  EXPECT_EQ(set->next_timer(), clock.time + 200 * kMillisecond);
  clock.time += 200 * kMillisecond;
  set->fire_timers(clock.time);
  EXPECT_THAT(taken(*set), ElementsAre("observer-a sequence 1", "observer-a sequence 2"));
  EXPECT_EQ(set->next_timer(), kNever);
}

TEST_F(Notifying, AfterFiveAttemptsOneIsGivenUpAndTheNextComes) {
  const auto set = load({plugin("observer-a", R"({"retries":5})")});
  set->notify(about(1));
  set->notify(about(2));
  while (set->next_timer() != kNever) {
    clock.time = set->next_timer();
    set->fire_timers(clock.time);
  }
  // 1 attempt and 4 more, then the second notification is taken.
  EXPECT_THAT(taken(*set), ElementsAre("observer-a sequence 2"));
  EXPECT_EQ(set->lost_notifications(), 1u);
  EXPECT_THAT(log.back().text,
              HasSubstr("notification 1 about team-a/w is lost: given up after 5 attempts"));
}

// What each of them names:
//   observer-a   Evicted; Admitted of its own
//   observer-b   Finished of its own
TEST_F(Notifying, APluginIsToldOfTheEventsThatItNames) {
  using hooks::Event;
  const auto set = load({plugin("observer-a", R"({"events":["Evicted","Admitted claimed"]})"),
                         plugin("observer-b", R"({"events":["Finished claimed"]})")});
  set->notify(about(1, Event::kEvicted, {}));
  set->notify(about(2, Event::kEvicted, {"observer-a"}));
  set->notify(about(3, Event::kAdmitted, {}));
  set->notify(about(4, Event::kAdmitted, {"observer-b"}));
  set->notify(about(5, Event::kAdmitted, {"observer-a", "observer-b"}));
  set->notify(about(6, Event::kFinished, {"observer-a"}));
  set->notify(about(7, Event::kFinished, {"observer-b"}));
  EXPECT_THAT(taken(*set), ElementsAre("observer-a sequence 1", "observer-a sequence 2",
                                       "observer-a sequence 5", "observer-b sequence 7"));
}

// Whose it was is not known any more.
TEST_F(Notifying, OfAWorkloadThatIsGoneWhoMayHaveClaimedItIsTold) {
  const auto set = load({plugin("observer-a", R"({"events":["Admitted claimed"]})"),
                         plugin("observer-b", R"({"events":["Finished claimed"]})")});
  hooks::Notification told = about(1);
  told.gone = true;
  set->notify(told);
  EXPECT_THAT(taken(*set), ElementsAre("observer-a sequence 1"));
}

// So that what nobody wants need not be described.
TEST_F(Notifying, TheSetKnowsWhatAnyOfThemWants) {
  using hooks::Event;
  const auto set = load({plugin("observer-a", R"({"events":["Admitted claimed"]})"),
                         plugin("observer-b", R"({"events":["Evicted"]})"), plugin("filter")});
  EXPECT_TRUE(set->listens(Event::kAdmitted, true));
  EXPECT_FALSE(set->listens(Event::kAdmitted, false));
  EXPECT_TRUE(set->listens(Event::kEvicted, true)) << "to observer-b it is another's";
  EXPECT_TRUE(set->listens(Event::kEvicted, false));
  EXPECT_FALSE(set->listens(Event::kFinished, true));

  EXPECT_TRUE(load({plugin("observer-a")})->listens(Event::kFinished, false)) << "names none";
  EXPECT_FALSE(load({plugin("filter")})->listens(Event::kFinished, true)) << "is never told";
}

TEST_F(Notifying, AnEventThatNobodyKnowsIsAnError) {
  EXPECT_EQ(load_error({plugin("observer-a", R"({"events":["Admited"]})")}),
            "plugin observer-a, of which events it wants to be told (post-admit): it wants to be "
            "told of \"Admited\"; an event is one of Reserved, Preempting, WaitingForVictims, "
            "Admitted, ReservationLost, Evicted, Deactivated, Finished, and only ` claimed` may "
            "stand behind it");
  EXPECT_THAT(load_error({plugin("observer-a", R"({"events":["Admitted mine"]})")}),
              HasSubstr("told of \"Admitted mine\""));
}

TEST_F(Notifying, WhatAQuarantinedPluginMissesWaitsForIt) {
  limits.quarantine_faults = 1;
  const auto set = load({plugin("observer-a", R"({"throw-in-traits":true})")});
  hooks::TraitsAnswer traits;
  hooks::Fault fault;
  set->hooks().workload_traits->traits({make_workload("w"), {}, false}, traits, fault);
  ASSERT_TRUE(set->status()[0].quarantined);
  for (std::uint64_t i = 1; i <= 10; ++i) set->notify(about(i));
  EXPECT_THAT(taken(*set), ElementsAre());
  EXPECT_EQ(set->next_timer(), kNever) << "nothing to do until somebody resets it";
  set->reset_quarantine("observer-a");
  set->fire_timers(clock.time);
  EXPECT_EQ(taken(*set).size(), 10u);
  EXPECT_EQ(set->lost_notifications(), 0u);
}

}  // namespace
}  // namespace sluice::host
