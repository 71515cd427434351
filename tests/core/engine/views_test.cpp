// What is known about queues costs the same however many workloads are stored, by counted steps.
#include "core/engine/queue_views.hpp"

#include <gtest/gtest.h>

#include "core/engine/cohort_views.hpp"
#include "core/engine/tally.hpp"
#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice {
namespace {

using namespace testing;

/// A workload of 1 CPU that came finished.
Job finished(const std::string& name) {
  Job job = Job(name, "q").cpu(1);
  job.object.status.conditions = {{"Finished", "True", "Succeeded", "", 0, 0}};
  return job;
}

/// A queue of 4 CPUs with two that run, and three that wait.
void fill(Scenario& s) {
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  for (const char* name : {"a", "b", "c", "d", "e"}) s.submit(Job(name, "q").cpu(2));
  s.run();
}

TEST(QueueViews, AStatusCostsTheSameWithManyFinishedWorkloads) {
  std::size_t steps[2] = {0, 0};
  std::size_t tally_steps[2] = {0, 0};
  const int many[2] = {100, 20'000};
  for (const int i : {0, 1}) {
    Scenario s;
    fill(s);
    for (int n = 0; n < many[i]; ++n) s.submit(finished("done" + std::to_string(n)));
    const auto view = queue_view(s.engine.model(), "q", &steps[i]);
    EXPECT_EQ(view->counts.pending, 3U);
    EXPECT_EQ(view->counts.admitted, 2U);
    EXPECT_EQ(view->use[0].used, 4000);
    const WorkloadTally tally = tally_of(s.engine.model(), &tally_steps[i]);
    ASSERT_EQ(tally.finished.size(), 1U);
    EXPECT_EQ(tally.finished[0].count, static_cast<std::size_t>(many[i]));
  }
  EXPECT_EQ(steps[0], steps[1]);
  EXPECT_EQ(steps[0], 2U);  // one account of holders, one of those that wait
  EXPECT_EQ(tally_steps[0], tally_steps[1]);
}

TEST(QueueViews, AStatusCostsTheSameWithManyEqualsThatWaitOrRun) {
  std::size_t steps[2] = {0, 0};
  const int many[2] = {10, 100};
  for (const int i : {0, 1}) {
    Scenario s;
    s.flavor("f").queue(Queue("q").quota("cpu", {{"f", many[i] / 2}}));
    for (int n = 0; n < many[i]; ++n) s.submit(Job("w" + std::to_string(n), "q").cpu(1));
    s.run();
    const auto view = queue_view(s.engine.model(), "q", &steps[i]);
    EXPECT_EQ(view->counts.pending, static_cast<std::size_t>(many[i] / 2));
    EXPECT_EQ(view->counts.parked, static_cast<std::size_t>(many[i] / 2));
    EXPECT_EQ(view->counts.reserving, static_cast<std::size_t>(many[i] / 2));
  }
  EXPECT_EQ(steps[0], steps[1]);
}

/// w, and m1 and m2, which are ways to run it.
struct RepresentedViews : ::testing::Test {
  FakeTraits traits;
  hooks::HostHooks hooks;
  std::unique_ptr<Scenario> world;
  Scenario& of(std::int64_t cpus) {
    traits.of("w").takes_part = false;
    traits.member("m1", "g", 1, "w").group.represents = true;
    traits.member("m2", "g", 2, "w").group.represents = true;
    hooks.workload_traits = &traits;
    world = std::make_unique<Scenario>(Scenario::single_thread(), hooks);
    world->flavor("f").queue(Queue("q").quota("cpu", {{"f", cpus}}));
    for (const char* name : {"w", "m1", "m2"}) world->submit(Job(name, "q").cpu(1));
    world->run();
    return *world;
  }
};

TEST_F(RepresentedViews, CountAsOneAndCostAStepEach) {
  Scenario& s = of(1);  // m1 runs for w, and m2 waits: w runs
  std::size_t steps = 0;
  const QueueCounts counts = queue_view(s.engine.model(), "q", &steps)->counts;
  EXPECT_EQ(counts.pending, 0U);
  EXPECT_EQ(counts.reserving, 1U);
  EXPECT_EQ(counts.admitted, 1U);
  EXPECT_EQ(steps, 2U);
}

// No way has room: both are parked, and w waits once.
TEST_F(RepresentedViews, WaitOnceHoweverManyWays) {
  Scenario& s = of(0);
  const QueueCounts counts = queue_view(s.engine.model(), "q")->counts;
  EXPECT_EQ(counts.pending, 1U);
  EXPECT_EQ(counts.parked, 1U);
  EXPECT_EQ(counts.reserving, 0U);
}

/// `NAME IN-CLUSTER-QUEUE/IN-LOCAL-QUEUE` of each that waits in q, in order.
Log waiting(const Scenario& s, const std::string& local_queue = "", std::size_t offset = 0,
            std::size_t limit = 10) {
  Log out;
  for (const PendingWorkload& each :
       pending_workloads(s.engine.model(), "q", local_queue, offset, limit))
    out.push_back(s.engine.object(each.id)->meta.name + " " +
                  std::to_string(each.position_in_cluster_queue) + "/" +
                  std::to_string(each.position_in_local_queue));
  return out;
}

TEST(QueueViews, ThoseThatWaitHaveTheirPlacesWhateverIsPicked) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 1}})).local_queue("other", "q");
  s.submit(Job("runs", "q").cpu(1).priority(9)).submit(Job("a", "q").cpu(1));
  s.submit(Job("b", "other").cpu(1)).submit(Job("c", "q").cpu(1).priority(5));
  s.submit(Job("d", "other").cpu(1)).run();
  EXPECT_EQ(waiting(s), Lines("c 0/0", "a 1/1", "b 2/0", "d 3/1"));
  EXPECT_EQ(waiting(s, "", 1, 2), Lines("a 1/1", "b 2/0"));
  EXPECT_EQ(waiting(s, "ns/other"), Lines("b 2/0", "d 3/1"));
  EXPECT_EQ(waiting(s, "ns/other", 1, 1), Lines("d 3/1"));
  EXPECT_EQ(waiting(s, "ns/nobody"), Log());
  EXPECT_TRUE(pending_workloads(s.engine.model(), "nobody", "", 0, 10).empty());
}

TEST_F(RepresentedViews, WaitAsTheOneThatTheyStandFor) {
  Scenario& s = of(0);
  s.submit(Job("z", "q").cpu(1)).run();
  EXPECT_EQ(waiting(s), Lines("w 0/0", "z 1/1"));
}

TEST(QueueViews, EachLocalQueueHasItsPart) {
  // q runs 1 and has reserved 2, other runs 1, and of both together 3 wait.
  Scenario s;
  s.flavor("f").flavor("g").local_queue("other", "q");
  s.queue(Queue("q").quota("cpu", {{"f", 2}, {"g", 2}}).checked_by("c", {"g"}));
  s.submit(Job("a", "q").cpu(1)).submit(Job("b", "other").cpu(1)).submit(Job("c", "q").cpu(2));
  for (const char* name : {"d", "e"}) s.submit(Job(name, "other").cpu(1));
  s.submit(Job("f", "q").cpu(1)).run();
  const QueueView view = *queue_view(s.engine.model(), "q");
  const auto counted = [](const QueueCounts& of) {
    return std::vector<std::size_t>{of.pending, of.parked, of.reserving, of.admitted};
  };
  EXPECT_EQ(counted(view.counts), (std::vector<std::size_t>{3, 3, 3, 2}));
  ASSERT_EQ(view.local_queues.size(), 2U);
  EXPECT_EQ(view.local_queues[0].key, "ns/other");
  EXPECT_EQ(counted(view.local_queues[0].counts), (std::vector<std::size_t>{2, 2, 1, 1}));
  EXPECT_EQ(counted(view.local_queues[1].counts), (std::vector<std::size_t>{1, 1, 2, 1}));
  const auto amounts = [](const FlavorUse& use) {
    return use.flavor + " " + std::to_string(use.nominal) + " " + std::to_string(use.reserved) +
           " " + std::to_string(use.used);
  };
  ASSERT_EQ(view.use.size(), 2U);
  EXPECT_EQ(amounts(view.use[0]), "f 2000 2000 2000");
  EXPECT_EQ(amounts(view.use[1]), "g 2000 2000 0");
  ASSERT_EQ(view.local_queues[1].use.size(), 2U);
  EXPECT_EQ(amounts(view.local_queues[1].use[0]), "f 0 1000 1000");
  EXPECT_EQ(amounts(view.local_queues[1].use[1]), "g 0 2000 0");
}

TEST(QueueViews, QueuesAreListedByName) {
  Scenario s;
  s.flavor("f");
  for (const char* name : {"b", "c", "a"}) s.queue(Queue(name).quota("cpu", {{"f", 1}}));
  EXPECT_EQ(cluster_queues(s.engine.model()), Lines("a", "b", "c"));
}

TEST(Tally, SaysWhyWorkloadsAreNotAdmitted) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}).checked_by("c"));
  s.submit(Job("reserved", "q").cpu(3)).submit(Job("waits", "q").cpu(2).count(2));
  s.submit(Job("too", "q").cpu(2)).submit(Job("lost", "nowhere").cpu(1)).run();
  const WorkloadTally tally = tally_of(s.engine.model());
  Log said;
  for (const WorkloadTally::Unadmitted& each : tally.unadmitted)
    said.push_back(each.cluster_queue + " " + each.local_queue + " " + each.reason + " " +
                   each.cause + " " + std::to_string(each.count));
  EXPECT_EQ(said, Lines(" ns/nowhere NoReservation Misconfigured 1",
                        "q ns/q UnsatisfiedAdmissionChecks  1",
                        "q ns/q NoReservation WaitingForQuota 2"));
  ASSERT_EQ(tally.requested.size(), 1U);
  EXPECT_EQ(tally.requested[0].amount, 6000);  // 2 · 2 + 2
  ASSERT_EQ(tally.shapes.size(), 1U);
  EXPECT_EQ(tally.shapes[0].active, 0U);
  EXPECT_EQ(tally.shapes[0].parked, 2U);
}

TEST(QueueViews, CountsFollowEveryWayOut) {
  Scenario s;
  fill(s);
  const auto counts = [&s] { return queue_view(s.engine.model(), "q")->counts; };
  s.finish("a").run();  // 2 CPUs are free: the next one runs
  EXPECT_EQ(counts().pending, 2U);
  EXPECT_EQ(counts().admitted, 2U);
  s.remove("b").run();
  EXPECT_EQ(counts().pending, 1U);
  s.submit(Job("c", "q").cpu(2).active(false)).run();  // evicted, and e runs in its place
  EXPECT_EQ(counts().pending, 0U);
  EXPECT_EQ(counts().admitted, 2U);
  const WorkloadTally tally = tally_of(s.engine.model());
  ASSERT_EQ(tally.unadmitted.size(), 1U);
  EXPECT_EQ(tally.unadmitted[0].reason, "NoReservation");
  EXPECT_EQ(tally.unadmitted[0].cause, "Deactivated");
  ASSERT_EQ(tally.finished.size(), 1U);
  EXPECT_EQ(tally.finished[0].count, 1U);
}

TEST(QueueViews, PodsThatAreOverAskForNothing) {
  // 3 pods of 2 CPUs each wait for a queue of 1 CPU; one of them is over.
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 1}}));
  const auto asked = [&s] { return tally_of(s.engine.model()).requested.at(0).amount; };
  s.submit(Job("a", "q").cpu(2).count(3)).run();
  EXPECT_EQ(asked(), 6000);
  s.submit(Job("a", "q").cpu(2).count(3).reclaimable(1)).run();
  EXPECT_EQ(asked(), 4000);
}

TEST(CohortViews, HaveWhatTheirQueuesHoldAndTheQuotaOfTheWholeSubtree) {
  // 3 of p's own 2 and q's 4 are held by p, in the cohort below; 1 by q.
  Scenario s;
  s.flavor("f").cohort(CohortOf("all")).cohort(CohortOf("part", "all"));
  s.queue(Queue("p").cohort("part").quota("cpu", {{"f", 2}}));
  s.queue(Queue("q").cohort("all").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "p").cpu(3)).submit(Job("b", "q").cpu(1)).run();
  const Model& model = s.engine.model();
  EXPECT_EQ(cohorts_above(model, "p"), Lines("part", "all"));
  EXPECT_EQ(cohorts_above(model, "q"), Lines("all"));
  EXPECT_EQ(cohorts_above(model, "nobody"), Log());
  using Shares = std::map<std::string, std::int64_t>;
  // One borrows 1 of 6; p, a queue, is not among them.
  EXPECT_EQ(cohort_shares(model), (Shares{{"all", 0}, {"part", 167}}));
  Scenario bare;
  bare.cohort(CohortOf("alone")).run();
  EXPECT_EQ(cohort_shares(bare.engine.model()), (Shares{{"alone", 0}}))
      << "it is there without any queue";
  const auto views = cohort_views(model);
  ASSERT_EQ(views.size(), 2U);
  const CohortView &all = views[0], &part = views[1];
  EXPECT_EQ(all.name + " " + all.parent + " " + all.root, "all  all");
  EXPECT_EQ(part.name + " " + part.parent + " " + part.root, "part all all");
  EXPECT_EQ(all.admitted, 2U);
  EXPECT_EQ(part.admitted, 1U);
  ASSERT_EQ(all.subtree.size(), 1U);
  ASSERT_EQ(part.subtree.size(), 1U);
  EXPECT_EQ(all.subtree[0].nominal, 6000);
  EXPECT_EQ(all.subtree[0].reserved, 4000);
  EXPECT_EQ(all.subtree[0].used, 0);
  EXPECT_EQ(part.subtree[0].nominal, 2000);
  EXPECT_EQ(part.subtree[0].reserved, 3000);
}

}  // namespace
}  // namespace sluice
