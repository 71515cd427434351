// A workload that is turned off: by its object, by its own time, by what its status says that it is
// to be.
#include <string>

#include "tests/core/engine/life_support.hpp"

namespace sluice::testing {
namespace {

TEST(Deactivation, DeactivatedAndActivatedAgain) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(4)).submit(Job("b", "q").cpu(4)).run();
  s.after(1).submit(Job("a", "q").cpu(4).active(false));
  EXPECT_EQ(s.run(), Lines("evicted a Deactivated", "deactivated a Deactivated", "reserved b",
                           "admitted b"));
  s.after(1).submit(Job("a", "q").cpu(4).active(true)).run();
  EXPECT_EQ(s.state("a"), "pending");
  s.after(1).finish("b").run();
  EXPECT_EQ(s.state("a"), "admitted");
}

TEST(Deactivation, MaximumExecutionTimeDeactivatesAndCountsOverEvictions) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1).max_seconds(60)).run();
  EXPECT_EQ(s.engine.next_timer(), s.now() + 60 * kSecond);
  s.after(40).queue(plain(4).stop(api::StopPolicy::kHoldAndDrain)).run();
  s.after(100).queue(plain(4)).run();
  EXPECT_EQ(s.admitted(), "a");
  EXPECT_EQ(s.engine.next_timer(), s.now() + 20 * kSecond);  // 40 of its 60 are gone
  s.after(20);
  EXPECT_EQ(s.run(), Lines("evicted a DeactivatedDueToMaximumExecutionTimeExceeded",
                           "deactivated a DeactivatedDueToMaximumExecutionTimeExceeded"));
  EXPECT_FALSE(s.engine.object(*s.engine.find("ns/a"))->active);
}

// Else it would be off again in the instant of its admission, for ever.
TEST(Deactivation, WhoUsedUpItsTimeHasItAnewWhenItIsTurnedOnAgain) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1).max_seconds(60)).run();
  s.after(60).run();
  EXPECT_EQ(s.admitted(), "");
  s.after(1).submit(Job("a", "q").cpu(1).max_seconds(60)).run();
  EXPECT_EQ(s.admitted(), "a");
  EXPECT_EQ(s.engine.next_timer(), s.now() + 60 * kSecond);
  s.after(20).submit(Job("a", "q").cpu(1).max_seconds(60).active(false)).run();
  s.after(1).submit(Job("a", "q").cpu(1).max_seconds(60)).run();
  s.after(39).run();
  EXPECT_EQ(s.admitted(), "a");
  s.after(1).run();
  EXPECT_EQ(s.admitted(), "") << "it was only turned off for a while, and had run for 20 s";
}

/// Its status says that it runs on the flavor f of the queue q.
void admit_in_status(Job& job) {
  api::WorkloadStatus& status = job.object.status;
  status.conditions = {{"QuotaReserved", "True", "QuotaReserved", "", 0, 0},
                       {"Admitted", "True", "Admitted", "", 0, 0}};
  status.admission.emplace();
  status.admission->cluster_queue = "q";
  api::PodSetAssignment& p = status.admission->pod_sets.emplace_back();
  p.count = 1;
  p.flavors.set("cpu", "f");
}

TEST(Deactivation, ATimerThatADumpBringsFromThePastFiresAtOnce) {
  Scenario s;
  s.flavor("f").queue(plain(4));
  Job a = Job("a", "q").cpu(1).max_seconds(60);
  admit_in_status(a);
  s.submit(a).run();
  EXPECT_EQ(s.admitted(), "a");
  EXPECT_EQ(s.engine.next_timer(), s.now());
  s.after(0).run();
  EXPECT_EQ(s.state("a"), "inactive");
}

// What it is due to is in its status until it is stored that it is off, and no longer.
TEST(Deactivation, WhatIsTurnedOffSaysWhatItIsToBe) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(1).max_seconds(60)).run();
  s.after(60).run();
  const WorkloadId id = *s.engine.find("ns/a");
  const auto target = [&] {
    return s.engine.status(id).condition("DeactivationTarget") != nullptr;
  };
  const api::WorkloadStatus told = s.engine.status(id);
  ASSERT_TRUE(target());
  EXPECT_TRUE(told.condition("DeactivationTarget")->is_true());
  EXPECT_EQ(told.condition("DeactivationTarget")->reason, "MaximumExecutionTimeExceeded");
  EXPECT_EQ(told.condition("DeactivationTarget")->message, "exceeding the maximum execution time");
  s.engine.target_reached(id);
  EXPECT_FALSE(target());
  s.after(1).submit(Job("a", "q").cpu(1).max_seconds(60)).run();  // turned on again
  s.after(60).run();
  ASSERT_TRUE(target());
  s.after(1).submit(Job("a", "q").cpu(1).max_seconds(60));  // and before that was stored
  EXPECT_FALSE(target());
}

// As a manager of several clusters evicts what runs at one of them.
TEST(Deactivation, WhoSaysThatItIsToBeTurnedOffTurnsItOff) {
  Scenario s;
  s.flavor("f").queue(plain(4)).submit(Job("a", "q").cpu(4)).submit(Job("b", "q").cpu(4)).run();
  Job told = Job("a", "q").cpu(4);
  told.object.status.conditions = {
      {"DeactivationTarget", "True", "EvictedOnManagerCluster", "Evicted on manager: x", 0, 0}};
  s.after(1).submit(told);
  const std::string why = "DeactivatedDueToEvictedOnManagerCluster";
  EXPECT_EQ(s.run(), Lines("evicted a " + why, "deactivated a " + why, "reserved b", "admitted b"));
  EXPECT_EQ(s.engine.status(*s.engine.find("ns/a")).condition("Evicted")->message,
            "The workload is deactivated due to Evicted on manager: x");
}

// By an engine that ended before all of it was stored.
TEST(Deactivation, OneThatWasToBeTurnedOffIsWhereItComesSo) {
  const std::string why = "DeactivatedDueToAdmissionCheck";
  for (const bool active : {true, false})
    for (const bool runs : {true, false}) {
      Scenario s;
      s.flavor("f").queue(plain(4));
      Job a = Job("a", "q").cpu(1).active(active);
      if (runs) admit_in_status(a);
      a.object.status.conditions.push_back(
          {"DeactivationTarget", "True", "AdmissionCheck", "check c said no", 0, 0});
      s.submit(a);
      EXPECT_EQ(s.run(), runs ? Lines("evicted a " + why, "deactivated a " + why)
                              : Lines("deactivated a " + why))
          << active;
      EXPECT_EQ(s.state("a"), "inactive") << active << runs;
      EXPECT_FALSE(s.engine.object(*s.engine.find("ns/a"))->active);
      const api::Condition reserved =
          *s.engine.status(*s.engine.find("ns/a")).condition("QuotaReserved");
      EXPECT_EQ(reserved.message, "The workload is deactivated due to check c said no");
    }
}

}  // namespace
}  // namespace sluice::testing
