// Fair sharing: which queue has its turn and which victims it may take (semantics 6).
#include <gmock/gmock.h>

#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

/// Queues a and b of 0 each and a pool of 6 in their cohort, so that all usage is borrowed.
Scenario& pool(Scenario& s, std::int64_t weight_a = 1, std::int64_t weight_b = 1) {
  s.flavor("f").cohort(CohortOf("c").quota("cpu", {{"f", 6}}));
  for (const auto& [name, weight] : {std::pair{"a", weight_a}, std::pair{"b", weight_b}})
    s.queue(Queue(name).cohort("c").quota("cpu", {{"f", 0}}).reclaim_any().weight(weight));
  return s;
}

TEST(Fair, EntriesTakeTurnsByTheLowerShare) {
  Scenario s(Scenario::fair());
  pool(s);
  // Priorities do not help a: its share after a1 (2/6) is above b's.
  s.submit(Job("a1", "a").cpu(2).priority(9)).submit(Job("a2", "a").cpu(2).priority(9));
  s.submit(Job("b1", "b").cpu(2)).submit(Job("b2", "b").cpu(2)).run();
  EXPECT_EQ(s.admitted(), "a1 a2 b1");  // equal shares after one each; then priority decides
}

TEST(Fair, WeightsScaleTheShares) {
  Scenario s(Scenario::fair());
  pool(s, 1, 2);
  s.submit(Job("a1", "a").cpu(2)).submit(Job("a2", "a").cpu(2));
  s.submit(Job("b1", "b").cpu(2)).submit(Job("b2", "b").cpu(2)).run();
  EXPECT_EQ(s.admitted(), "a1 b1 b2");  // b2 brings b to 4/6/2 = 1/3, a2 would bring a to 4/6
}

TEST(Fair, FinalShareTakesAsLongAsTheTargetStaysAbove) {
  Scenario s(Scenario::fair());
  pool(s);
  s.submit(Job("a1", "a").cpu(2)).submit(Job("a2", "a").cpu(2)).submit(Job("a3", "a").cpu(2)).run();
  // b with 2 has 2/6; a without one of its three has 4/6: allowed. Newest reservation: all tie, so
  // the UID decides.
  EXPECT_EQ(evictions(s.submit(Job("b1", "b").cpu(2)).run()),
            Lines("evicted a1 InCohortFairSharing by b1"));
}

TEST(Fair, InitialShareIsTheSecondChance) {
  // a runs one of 6; b asks for 4. Without it a has 0 < 4/6: the first strategy says no. Before, a
  // had 6/6 > 4/6: the second says yes, where it is configured.
  for (const bool both : {true, false}) {
    EngineConfig config = Scenario::fair();
    if (!both) config.fair_strategies = {FairStrategy::kLessThanOrEqualToFinalShare};
    Scenario s(config);
    pool(s);
    s.submit(Job("a1", "a").cpu(6)).run();
    EXPECT_EQ(evictions(s.submit(Job("b1", "b").cpu(4)).run()),
              both ? Lines("evicted a1 InCohortFairSharing by b1") : Log());
  }
}

TEST(Fair, TheHighestShareGivesFirstWhateverThePriorities) {
  // a has 4 of 6, b has 2, and b's are of a lower priority.
  Scenario s(Scenario::fair());
  pool(s);
  s.queue(Queue("z").cohort("c").quota("cpu", {{"f", 0}}).reclaim_any());
  for (const char* name : {"a1", "a2", "a3", "a4"}) s.submit(Job(name, "a").cpu(1).priority(5));
  for (const char* name : {"b1", "b2"}) s.submit(Job(name, "b").cpu(1));
  s.run();
  EXPECT_EQ(evictions(s.submit(Job("z1", "z").cpu(1)).run()),
            Lines("evicted a1 InCohortFairSharing by z1"));
}

TEST(Fair, OfEqualSharesACohortComesBeforeAQueue) {
  // a and the cohort of b borrow 3 of 6 each; z with 1 has 1/6, whom it takes from 2/6.
  Scenario s(Scenario::fair());
  s.flavor("f").cohort(CohortOf("all").quota("cpu", {{"f", 6}})).cohort(CohortOf("part", "all"));
  s.queue(Queue("a").cohort("all").quota("cpu", {{"f", 0}}));
  s.queue(Queue("b").cohort("part").quota("cpu", {{"f", 0}}));
  s.queue(Queue("z").cohort("all").quota("cpu", {{"f", 0}}).reclaim_any());
  for (const char* queue : {"a", "b"})
    for (const char* number : {"1", "2", "3"})
      s.submit(Job(std::string(queue) + number, queue).cpu(1));
  s.run();
  EXPECT_EQ(evictions(s.submit(Job("z1", "z").cpu(1)).run()),
            Lines("evicted b1 InCohortFairSharing by z1"));
}

TEST(Fair, OneIsTakenAlsoBelowACohortThatBorrowsNothingWhereThePreemptorIsBelowItToo) {
  // b and c share the 2 of inner, which borrows nothing of part; part has enough for all of them.
  Scenario s(Scenario::fair());
  s.flavor("f").cohort(CohortOf("all")).cohort(CohortOf("part", "all").quota("cpu", {{"f", 6}}));
  s.cohort(CohortOf("inner", "part").quota("cpu", {{"f", 2}}).borrowing_limit(0));
  for (const char* name : {"b", "c"})
    s.queue(Queue(name).cohort("inner").quota("cpu", {{"f", 0}}).reclaim_any());
  s.submit(Job("c1", "c").cpu(1)).submit(Job("c2", "c").cpu(1)).run();
  EXPECT_EQ(evictions(s.submit(Job("b1", "b").cpu(1)).run()),
            Lines("evicted c1 InCohortFairSharing by b1"));
}

TEST(Fair, AQueueThatBorrowsNothingIsStruckOut) {
  Scenario s(Scenario::fair());
  s.flavor("f").cohort(CohortOf("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("a").cohort("c").quota("cpu", {{"f", 4}}));
  s.queue(Queue("b").cohort("c").quota("cpu", {{"f", 0}}).reclaim_any());
  s.submit(Job("a1", "a").cpu(4)).run();
  EXPECT_EQ(s.submit(Job("b1", "b").cpu(4)).run(), Log());
}

TEST(Fair, OneWithinItsNominalReclaimsWithoutATest) {
  Scenario s(Scenario::fair());
  s.flavor("f");
  s.queue(Queue("a").cohort("c").quota("cpu", {{"f", 2}}));
  s.queue(Queue("b").cohort("c").quota("cpu", {{"f", 4}}).reclaim_any());
  s.submit(Job("a1", "a").cpu(6)).run();
  EXPECT_EQ(evictions(s.submit(Job("b1", "b").cpu(4)).run()),
            Lines("evicted a1 InCohortReclamation by b1"));
}

TEST(Fair, ItsOwnQueueIsTakenFromWithoutATest) {
  Scenario s(Scenario::fair());
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).lower_priority());
  s.submit(Job("low", "q").cpu(4)).run();
  EXPECT_EQ(evictions(s.submit(Job("high", "q").cpu(2).priority(1)).run()),
            Lines("evicted low InClusterQueue by high"));
}

TEST(Fair, WeightZeroLosesToEveryoneThatBorrows) {
  Scenario s(Scenario::fair());
  pool(s, 0, 1);
  s.submit(Job("a1", "a").cpu(1)).submit(Job("a2", "a").cpu(5)).run();
  EXPECT_EQ(s.admitted(), "a1 a2");
  // Any share of b is below a's infinite one.
  EXPECT_EQ(evictions(s.submit(Job("b1", "b").cpu(6)).run()).size(), 2U);
}

TEST(Fair, ARequestOfNothingDoesNotBorrow) {
  // 1 cpu is left. a has 1 of 2 gpus of the pool, b its only tpu: shares of 1/2 and of 1. Neither
  // borrows for the cpu of its own that it asks for, and so the lower share is first; that zero
  // asks for 0 of the gpus that a borrows is no difference.
  Scenario s(Scenario::fair());
  s.flavor("f");
  s.cohort(CohortOf("c").quota("cpu", {{"f", 0}}).with("gpu", {2}).with("tpu", {1}));
  for (const char* name : {"a", "b", "rest"})
    s.queue(Queue(name)
                .cohort("c")
                .quota("cpu", {{"f", *name == 'r' ? 0 : 2}})
                .with("gpu", {0})
                .with("tpu", {0}));
  s.submit(Job("gpu", "a").request("gpu", 1)).submit(Job("tpu", "b").request("tpu", 1));
  s.submit(Job("rest", "rest").cpu(3)).run();
  s.submit(Job("zero", "a").cpu(1).request("gpu", 0)).submit(Job("other", "b").cpu(1)).run();
  EXPECT_EQ(s.admitted(), "gpu rest tpu zero");
}

}  // namespace
}  // namespace sluice::testing
