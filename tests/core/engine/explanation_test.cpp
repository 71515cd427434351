// Why a workload waits, in numbers: what it asks for, what each flavor has, what holds the rest.
#include "core/engine/explanation.hpp"

#include <gmock/gmock.h>

#include "tests/core/support/fake_hooks.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Explanation explain(const Scenario& s, const std::string& name, const MayKnow& may_know = {}) {
  return s.engine.explain(*s.engine.find(key_of(name)), may_know);
}

/// `main cpu 4000: f 2000/4000 of 4000 missing 2000` for each flavor; `never` and what is
/// unsuitable behind it.
Log numbers(const Explanation& e) {
  Log out;
  for (const PodSetAnswer& pods : e.pod_sets)
    for (const ResourceAnswer& resource : pods.resources) {
      const std::string head =
          pods.name + " " + resource.resource + " " + std::to_string(resource.requested) + ":";
      if (!resource.covered) out.push_back(head + " not covered");
      for (const FlavorAnswer& f : resource.flavors)
        out.push_back(head + " " + f.flavor + " " + std::to_string(f.available) + "/" +
                      std::to_string(f.maximum) + " of " + std::to_string(f.nominal) + " missing " +
                      std::to_string(f.missing) + (f.never ? " never" : "") +
                      (f.unsuitable.empty() ? "" : " " + f.unsuitable));
    }
  return out;
}

/// `ns/a in q: 4000 cpu of f`
Log holders(const Explanation& e) {
  Log out;
  for (const QuotaHolder& h : e.holders)
    out.push_back(h.workload + " in " + h.cluster_queue + ": " + std::to_string(h.amount) + " " +
                  h.resource + " of " + h.flavor);
  for (const OtherHolders& o : e.others)
    out.push_back(o.resource + " of " + o.flavor + ": " + std::to_string(o.unnamed) + " unnamed " +
                  std::to_string(o.unnamed_amount) + ", " + std::to_string(o.more) + " more " +
                  std::to_string(o.more_amount));
  return out;
}

TEST(Explanation, WhatIsMissingAndWhoHoldsIt) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(1)).submit(Job("b", "q").cpu(2).priority(7)).run();
  s.submit(Job("c", "q").cpu(3)).run();
  const Explanation e = explain(s, "c");
  // 4 − 1 − 2 = 1 is free of the 3 that are asked for.
  EXPECT_THAT(numbers(e), ElementsAre("main cpu 3000: f 1000/4000 of 4000 missing 2000"));
  EXPECT_THAT(holders(e), ElementsAre("ns/b in q: 2000 cpu of f", "ns/a in q: 1000 cpu of f"));
  EXPECT_EQ(e.holders[0].priority, 7);
  EXPECT_EQ(e.holders[0].since, s.now());
  EXPECT_EQ(e.cluster_queue, "q");
  EXPECT_THAT(e.cohorts, IsEmpty());
  EXPECT_TRUE(e.queued);
  EXPECT_TRUE(e.parked);
}

TEST(Explanation, OneThatIsMissingHasAHolderToo) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("gpu", {{"f", 2}}));
  s.submit(Job("a", "q").request("gpu", 1)).run();
  s.submit(Job("b", "q").request("gpu", 2)).run();
  const Explanation e = explain(s, "b");
  EXPECT_THAT(numbers(e), ElementsAre("main gpu 2: f 1/2 of 2 missing 1"));
  EXPECT_THAT(holders(e), ElementsAre("ns/a in q: 1 gpu of f"));
}

TEST(Explanation, MoreThanThereEverIsHasNoHolders) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(4)).run();
  s.submit(Job("b", "q").cpu(5)).run();
  const Explanation e = explain(s, "b");
  EXPECT_THAT(numbers(e), ElementsAre("main cpu 5000: f 0/4000 of 4000 missing 5000 never"));
  EXPECT_THAT(holders(e), IsEmpty());
}

TEST(Explanation, EachFlavorAnswersForItself) {
  api::LabelMap zone;
  zone.set("zone", "a");
  Scenario s;
  s.flavor("tainted", {}, {{"gpu", "yes", api::TaintEffect::kNoSchedule}}).flavor("zone-a", zone);
  s.flavor("small");
  s.queue(Queue("q").quota("cpu", {{"tainted", 9}, {"zone-a", 9}, {"small", 2}, {"absent", 9}}));
  s.flavor("absent").submit(Job("x", "q").cpu(3).node_selector("zone", "b")).run();
  s.engine.remove(api::ObjectKind::kResourceFlavor, "absent");
  s.run();
  EXPECT_THAT(
      numbers(explain(s, "x")),
      ElementsAre("main cpu 3000: tainted 9000/9000 of 9000 missing 0 untolerated taint gpu",
                  "main cpu 3000: zone-a 9000/9000 of 9000 missing 0 its label zone "
                  "is not b, which the pods' node selector wants",
                  "main cpu 3000: small 2000/2000 of 2000 missing 1000 never",
                  HasSubstr("flavor absent not found")));
}

TEST(Explanation, BorrowingCountsAsAvailableAndOthersOfTheCohortAsHolders) {
  Scenario s;
  s.flavor("f").cohort(CohortOf("root")).cohort(CohortOf("team", "root"));
  s.queue(Queue("q").cohort("team").quota("cpu", {{"f", 2}}));
  s.queue(Queue("lender").cohort("root").quota("cpu", {{"f", 3}}));
  s.queue(Queue("stranger").quota("cpu", {{"f", 9}}));
  s.submit(Job("l", "lender").cpu(1)).submit(Job("far", "stranger").cpu(9)).run();
  s.submit(Job("x", "q").cpu(5)).run();
  const Explanation e = explain(s, "x");
  // 2 of its own and 3 of the lender's, 1 of which is taken.
  EXPECT_THAT(numbers(e), ElementsAre("main cpu 5000: f 4000/5000 of 2000 missing 1000"));
  EXPECT_THAT(holders(e), ElementsAre("ns/l in lender: 1000 cpu of f"));
  EXPECT_THAT(e.cohorts, ElementsAre("team", "root"));
}

// a waits for what d lends; b lends nothing, and d borrows nothing.
TEST(Explanation, HoldersAreThoseWhoseEndWouldHelp) {
  Scenario s;
  s.flavor("f").cohort(CohortOf("team"));
  s.queue(Queue("a").cohort("team").quota("cpu", {{"f", 2}}));
  s.queue(Queue("b").cohort("team").quota("cpu", {{"f", 6}}).lending_limit(0));
  s.queue(Queue("d").cohort("team").quota("cpu", {{"f", 3}}).borrowing_limit(0));
  s.submit(Job("a1", "a").cpu(2)).submit(Job("b1", "b").cpu(6)).submit(Job("d1", "d").cpu(3)).run();
  s.submit(Job("a2", "a").cpu(1)).submit(Job("d2", "d").cpu(1)).run();
  EXPECT_THAT(holders(explain(s, "a2")),
              ElementsAre("ns/d1 in d: 3000 cpu of f", "ns/a1 in a: 2000 cpu of f"));
  EXPECT_THAT(holders(explain(s, "d2")), ElementsAre("ns/d1 in d: 3000 cpu of f"));
}

TEST(Explanation, PodSetsAndResources) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 8}}).with("memory", {100}));
  Job job("x", "q");
  job.cpu(1).count(3).request("memory", 10).reclaimable(1);
  job.pods("workers").count(2).cpu(9).request("disk", 1);
  s.submit(job).run();
  // Of three pods one is done: 2 × 1 cpu and 2 × 10 memory are asked for, and 8 − 2 cpu are left.
  EXPECT_THAT(numbers(explain(s, "x")),
              ElementsAre("main cpu 2000: f 8000/8000 of 8000 missing 0",
                          "main memory 20: f 100/100 of 100 missing 0",
                          "workers cpu 18000: f 6000/6000 of 8000 missing 12000 never",
                          "workers disk 2: not covered"));
}

/// Where a queue covers `pods`, each pod asks for one of it, whatever it requests.
TEST(Explanation, PodsAreAskedForWhereTheQueueCoversThem) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 9}}).with("pods", {8}));
  s.queue(Queue("uncounted").quota("cpu", {{"f", 9}}));
  s.submit(Job("two", "q").cpu(1).count(2)).run();
  s.submit(Job("seven", "q").cpu(1).count(7).request("pods", 5)).run();
  // 8 − 2 = 6 are free of the 7.
  const Explanation seven = explain(s, "seven");
  EXPECT_THAT(numbers(seven), ElementsAre("main cpu 7000: f 7000/9000 of 9000 missing 0",
                                          "main pods 7: f 6/8 of 8 missing 1"));
  EXPECT_THAT(holders(seven), ElementsAre("ns/two in q: 2 pods of f"));
  s.submit(Job("nine", "q").cpu(1).count(9)).run();
  EXPECT_THAT(numbers(explain(s, "nine")), ::testing::Contains("main pods 9: f 6/8 of 8 missing 3 "
                                                               "never"));
  // The head takes 1 of the 6, and for its 6 workers 1 is missing.
  s.submit(Job("ray", "q").cpu(0).pods("workers").cpu(0).count(6)).run();
  EXPECT_THAT(numbers(explain(s, "ray")),
              ::testing::Contains("workers pods 6: f 5/7 of 8 missing 1"));
  s.submit(Job("elsewhere", "uncounted").cpu(10).count(7)).run();
  EXPECT_THAT(numbers(explain(s, "elsewhere")), ElementsAre(HasSubstr("main cpu 70000: f")));
}

TEST(Explanation, PositionsAmongAllAndInTheLocalQueue) {
  Scenario s;
  s.flavor("f").queue(Queue("q").strict().quota("cpu", {{"f", 4}})).local_queue("other", "q");
  s.submit(Job("a", "q").cpu(4)).run();
  s.submit(Job("b", "q").cpu(4)).submit(Job("o", "other").cpu(4)).submit(Job("c", "q").cpu(4));
  s.submit(Job("first", "q").cpu(4).priority(1)).run();
  const Explanation e = explain(s, "c");
  // first, b, o, c
  EXPECT_EQ(e.ahead_in_cluster_queue, 3U);
  EXPECT_EQ(e.in_cluster_queue, 4U);
  EXPECT_EQ(e.ahead_in_local_queue, 2U);
  EXPECT_EQ(e.in_local_queue, 3U);
  EXPECT_FALSE(e.parked);
}

TEST(Explanation, NamespacesThatMayNotBeKnownAreSummedUp) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 10}}));
  for (const char* ns : {"ns", "one", "two"}) {
    api::LocalQueue local;
    local.meta.ns = ns;
    local.meta.name = "q";
    local.cluster_queue = "q";
    s.engine.apply(local);
    s.space(ns, {});
  }
  s.submit(Job("a", "q").cpu(1)).submit(Job("b", "q").ns("one").cpu(2));
  s.submit(Job("c", "q").ns("one").cpu(3)).submit(Job("d", "q").ns("two").cpu(4)).run();
  s.submit(Job("x", "q").cpu(5)).run();
  std::vector<std::string> asked;
  const Explanation e = explain(s, "x", [&](std::string_view ns) {
    asked.emplace_back(ns);
    return ns == "ns";
  });
  EXPECT_THAT(holders(e),
              ElementsAre("ns/a in q: 1000 cpu of f", "cpu of f: 3 unnamed 9000, 0 more 0"));
  EXPECT_THAT(asked, ::testing::UnorderedElementsAre("ns", "one", "two"));  // once each
}

TEST(Explanation, OfManyHoldersThoseWithMostAreNamed) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 100}}));
  // 1 + 2 + … + 13 = 91; the three smallest, 1 + 2 + 3, are left out.
  for (int i = 1; i <= 13; ++i) s.submit(Job("h" + std::to_string(i), "q").cpu(i));
  s.run();
  s.submit(Job("x", "q").cpu(20)).run();
  const Explanation e = explain(s, "x");
  ASSERT_EQ(e.holders.size(), Explanation::kMostHolders);
  EXPECT_EQ(e.holders.front().workload, "ns/h13");
  ASSERT_EQ(e.others.size(), 1U);
  EXPECT_EQ(e.others[0].more, 3U);
  EXPECT_EQ(e.others[0].more_amount, 6000);
}

TEST(Explanation, OneMoreThanAreNamedIsCountedToo) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 66}}));
  for (int i = 1; i <= 11; ++i) s.submit(Job("h" + std::to_string(i), "q").cpu(i));
  s.run();
  s.submit(Job("x", "q").cpu(1)).run();
  const Explanation e = explain(s, "x");
  ASSERT_EQ(e.holders.size(), 10U);
  ASSERT_EQ(e.others.size(), 1U);
  EXPECT_EQ(e.others[0].more, 1U);
  EXPECT_EQ(e.others[0].more_amount, 1000);
}

TEST(Explanation, OfAWorkloadThatIsInNoQueueOrDoesNotWait) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(4)).submit(Job("lost", "nowhere").cpu(1)).run();
  const Explanation lost = explain(s, "lost");
  EXPECT_EQ(lost.cluster_queue, "");
  EXPECT_FALSE(lost.queued);
  EXPECT_THAT(numbers(lost), IsEmpty());
  ASSERT_EQ(lost.refusals.size(), 1U);
  EXPECT_EQ(lost.refusals[0].text, "LocalQueue nowhere doesn't exist");
  const Explanation running = explain(s, "a");
  EXPECT_EQ(running.cluster_queue, "q");
  EXPECT_THAT(holders(running), IsEmpty());
  EXPECT_FALSE(running.queued);
}

TEST(Explanation, PluginsThatSaidNoAreNamed) {
  FakeFilter filter;
  filter.skips["f"] = "it is for others";
  FakeVeto veto;
  hooks::HostHooks hooks;
  hooks.flavor_filter = &filter;
  hooks.preemption_veto = &veto;
  Scenario s(Scenario::single_thread(), hooks);
  s.flavor("f").flavor("g");
  s.queue(Queue("q").lower_priority().quota("cpu", {{"f", 4}, {"g", 4}}));
  s.submit(Job("a", "q").cpu(4)).run();
  veto.may_not["b"] = "not before noon";
  s.submit(Job("b", "q").cpu(4).priority(1)).run();
  const Explanation e = explain(s, "b");
  Log said;
  for (const Refusal& each : e.refusals)
    said.push_back(each.by + "|" + each.pod_set + "|" + each.flavor + "|" + each.text);
  EXPECT_THAT(
      said, ElementsAre("veto-plugin|||not before noon", "filter-plugin|main|f|it is for others"));
}

TEST(Explanation, AQuotaThatWasCutLeavesLessThanNothing) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(4)).run();
  s.queue(Queue("q").quota("cpu", {{"f", 1}})).submit(Job("b", "q").cpu(1)).run();
  // 1 − 4 = −3: 4 have to go before 1 fits.
  EXPECT_THAT(numbers(explain(s, "b")),
              ElementsAre("main cpu 1000: f -3000/1000 of 1000 missing 4000"));
}

}  // namespace
}  // namespace sluice::testing
