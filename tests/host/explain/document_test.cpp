// Explanations: from the engine's numbers to the document.
#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/json/json.hpp"
#include "host/explain/document.hpp"
#include "host/explain/text.hpp"
#include "tests/core/support/scenario.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using sluice::testing::CohortOf;
using sluice::testing::Job;
using sluice::testing::Queue;
using sluice::testing::Scenario;
using ::testing::HasSubstr;
using ::testing::Not;

json::object document(const Scenario& s, const std::string& name, const MayKnow& may_know = {}) {
  return explanation_document(s.engine, *s.engine.find("ns/" + name), s.now(), may_know);
}

/// The value at a JSON pointer as text.
std::string at(const json::object& object, std::string_view pointer) {
  const json::value value(object);
  boost::system::error_code code;
  const json::value* found = value.find_pointer({pointer.data(), pointer.size()}, code);
  if (!found) return "(absent)";
  return found->is_string() ? std::string(api::view(found->get_string())) : json::serialize(*found);
}

TEST(Document, OfOneThatWaits) {
  Scenario s;
  s.flavor("f").cohort(CohortOf("team"));
  s.queue(Queue("q").cohort("team").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(2)).run();
  s.submit(Job("b", "q").cpu(3).priority(5)).run();
  const json::object seen = document(s, "b");
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"/kind", "WorkloadExplanation"},
      {"/apiVersion", "sluice.dev/v1alpha1"},
      {"/metadata", R"({"name":"b","namespace":"ns"})"},
      {"/state", "Pending"},
      {"/reason", "WaitingForQuota"},
      {"/message",
       "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 1 "
       "more needed"},
      {"/priority", "5"},
      {"/queue/localQueue", "q"},
      {"/queue/clusterQueue", "q"},
      {"/queue/cohorts", R"(["team"])"},
      {"/queue/positionInClusterQueue", "1"},
      {"/queue/pendingInClusterQueue", "1"},
      {"/queue/parked", "true"},
      {"/podSets/0/resources/0/requested", "3"},
      {"/podSets/0/resources/0/flavors/0/available", "2"},
      {"/podSets/0/resources/0/flavors/0/maximum", "4"},
      {"/podSets/0/resources/0/flavors/0/missing", "1"},
      {"/podSets/0/resources/0/flavors/0/holders/0/workload", "ns/a"},
      {"/podSets/0/resources/0/flavors/0/holders/0/amount", "2"},
      {"/podSets/0/resources/0/flavors/0/otherNamespaces", "(absent)"},
  };
  for (const auto& [pointer, value] : expected) EXPECT_EQ(at(seen, pointer), value) << pointer;
}

TEST(Document, NamesNobodyOfNamespacesThatMayNotBeKnown) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("secret", "q").cpu(4)).run();
  s.submit(Job("b", "q").cpu(4)).run();
  const json::object seen = document(s, "b", [](std::string_view) { return false; });
  EXPECT_THAT(json::serialize(seen), Not(HasSubstr("secret")));
  EXPECT_THAT(explanation_text(seen), Not(HasSubstr("secret")));
  EXPECT_EQ(at(seen, "/podSets/0/resources/0/flavors/0/otherNamespaces"),
            R"({"workloads":1,"amount":"4"})");
  EXPECT_THAT(at(seen, "/wouldHelp/0"), HasSubstr("1 workload of other namespaces (4)"));
}

/// C3: those behind the head are not looked at, so no condition says why they wait.
TEST(Document, OfOneBehindTheHeadOfAStrictFifoQueue) {
  Scenario s;
  s.flavor("f").queue(Queue("q").strict().quota("cpu", {{"f", 4}}));
  s.submit(Job("runs", "q").cpu(3)).run();
  s.after(1).submit(Job("head", "q").cpu(2)).run();
  s.after(1).submit(Job("small", "q").cpu(1)).run();
  const json::object seen = document(s, "small");
  EXPECT_EQ(at(seen, "/queue/positionInClusterQueue"), "2");
  EXPECT_EQ(at(seen, "/queue/behind"), "ns/head");
  EXPECT_EQ(at(seen, "/queue/ahead/0"), "ns/head");
  EXPECT_EQ(at(seen, "/reason"), "PendingEvaluation");
  EXPECT_THAT(explanation_text(seen), Not(HasSubstr("Last try")));
  EXPECT_EQ(at(seen, "/now"), "only the head of a StrictFIFO queue is looked at: ns/head");
  EXPECT_EQ(at(seen, "/wouldHelp/0"),
            "ns/head, the head of this StrictFIFO queue, has to get its quota first");
  EXPECT_EQ(at(document(s, "head"), "/queue/behind"), "(absent)");
  const json::object hidden = document(s, "small", [](std::string_view) { return false; });
  EXPECT_EQ(at(hidden, "/queue/behind"), "a workload of another namespace");
  EXPECT_THAT(json::serialize(hidden), Not(HasSubstr("ns/head")));
}

/// C3: in a BestEffortFIFO queue, too: seven wait, and the eighth is told of the first five by
/// name.
TEST(Document, C3_OfThoseInFrontOfIt) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("runs", "q").cpu(4)).run();
  for (int i = 1; i <= 8; ++i) s.after(1).submit(Job("w" + std::to_string(i), "q").cpu(1)).run();
  const json::object seen = document(s, "w8");
  EXPECT_EQ(at(seen, "/queue/positionInClusterQueue"), "8");
  EXPECT_EQ(at(seen, "/queue/behind"), "(absent)");
  EXPECT_THAT(explanation_text(seen),
              HasSubstr("Ahead     ns/w1, ns/w2, ns/w3, ns/w4, ns/w5 and 2 more\n"));
  EXPECT_THAT(explanation_text(document(s, "w1")), Not(HasSubstr("Ahead")));
  const json::object hidden = document(s, "w8", [](std::string_view) { return false; });
  EXPECT_THAT(explanation_text(hidden), HasSubstr("Ahead     7 workloads\n"));
  EXPECT_THAT(json::serialize(hidden), Not(HasSubstr("ns/w1")));
}

/// 2 of 4 are used when its turn comes, 4 of 4 when the question comes.
TEST(Document, C4_TellsOfThisMomentApartFromTheLastTry) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("a", "q").cpu(2)).run();
  s.after(1).submit(Job("b", "q").cpu(3)).run();
  s.after(1).submit(Job("c", "q").cpu(2)).run();
  const json::object seen = document(s, "b");
  EXPECT_EQ(at(seen, "/now"), "cpu of pod set main: 3 more of flavor f");
  EXPECT_EQ(at(seen, "/podSets/0/resources/0/flavors/0/missing"), "3");
  EXPECT_THAT(at(seen, "/message"), HasSubstr("1 more needed"));
  EXPECT_THAT(explanation_text(seen), HasSubstr("Last try  couldn't assign flavors"));
}

TEST(Document, OfOthers) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.queue(Queue("checked").quota("cpu", {{"f", 4}}).checked_by("budget"));
  s.submit(Job("runs", "q").cpu(1)).submit(Job("done", "q").cpu(1)).run();
  s.submit(Job("waits", "checked").cpu(1)).submit(Job("off", "q").cpu(1).active(false));
  s.submit(Job("lost", "nowhere").cpu(1)).run();
  s.after(60).finish("done").run();
  const json::object runs = document(s, "runs");
  EXPECT_EQ(at(runs, "/state"), "Admitted");
  EXPECT_EQ(at(runs, "/admission/0/flavors"), R"({"cpu":"f"})");
  EXPECT_EQ(at(runs, "/admission/0/usage"), R"({"cpu":"1"})");
  EXPECT_EQ(at(runs, "/wouldHelp"), "[]");
  const json::object done = document(s, "done");
  EXPECT_EQ(at(done, "/state"), "Finished");
  EXPECT_EQ(at(done, "/reason"), "Succeeded");
  EXPECT_EQ(at(done, "/since"), at(done, "/time"));
  EXPECT_EQ(at(document(s, "waits"), "/state"), "QuotaReserved");
  EXPECT_EQ(at(document(s, "off"), "/state"), "Inactive");
  EXPECT_EQ(at(document(s, "off"), "/wouldHelp/0"), "somebody has to set spec.active to true");
  EXPECT_EQ(at(document(s, "lost"), "/message"), "LocalQueue nowhere doesn't exist");
  EXPECT_EQ(at(document(s, "lost"), "/queue"), R"({"localQueue":"nowhere"})");
}

TEST(Document, TellsAboutTheLastEviction) {
  Scenario s;
  s.flavor("f").queue(Queue("q").lower_priority().quota("cpu", {{"f", 4}}));
  s.submit(Job("low", "q").cpu(4)).run();
  s.after(60).submit(Job("high", "q").cpu(4).priority(1)).run();
  const json::object seen = document(s, "low");
  EXPECT_EQ(at(seen, "/evicted/reason"), "Preempted");
  EXPECT_THAT(at(seen, "/evicted/message"), HasSubstr("prioritization in the ClusterQueue"));
}

TEST(Document, OfAnAdmittedOneThatIsToEnd) {
  EngineConfig config = Scenario::single_thread();
  config.jobs_end_later = true;
  Scenario s(config);
  s.flavor("f").queue(Queue("q").lower_priority().quota("cpu", {{"f", 4}}));
  Job low("low", "q");
  low.cpu(2).object.of_job = true;
  Job gone("gone", "q");
  gone.cpu(1).object.meta.deletion_time = 1;
  s.submit(low).submit(gone).submit(Job("stays", "q").cpu(1).priority(2)).run();
  s.after(60).submit(Job("high", "q").cpu(2).priority(1)).run();
  const json::object seen = document(s, "low");
  EXPECT_EQ(at(seen, "/state"), "Admitted");
  EXPECT_EQ(at(seen, "/now"), "It was evicted, and holds its quota until its pods have ended");
  EXPECT_THAT(explanation_text(seen), Not(HasSubstr("The workload is admitted")));
  EXPECT_EQ(at(document(s, "gone"), "/now"),
            "It was deleted, and holds its quota until its pods have ended");
  EXPECT_EQ(at(document(s, "stays"), "/now"), "(absent)");
}

/// C5: the message names a UID; the explanation names the workload, its job and its queue.
TEST(Document, C5_NamesWhomItWasEvictedFor) {
  Scenario s;
  s.flavor("f").queue(Queue("q").lower_priority().quota("cpu", {{"f", 4}}));
  s.submit(Job("low", "q").cpu(4)).run();
  Job high = Job("high", "q").cpu(4).priority(1);
  high.object.meta.owners.push_back({"batch/v1", "Job", "big", "uid-of-big", true});
  s.after(60).submit(high).run();
  EXPECT_THAT(explanation_text(document(s, "low")),
              HasSubstr("  For       ns/high (Job big) of ClusterQueue q\n"));
  const json::object hidden = document(s, "low", [](std::string_view) { return false; });
  EXPECT_THAT(explanation_text(hidden),
              HasSubstr("  For       a workload of another namespace of ClusterQueue q\n"));
  EXPECT_THAT(json::serialize(hidden), Not(HasSubstr("ns/high")));
  s.after(1).remove("high");
  EXPECT_THAT(explanation_text(document(s, "low")),
              HasSubstr("  For       a workload that is gone of ClusterQueue q\n"));
}

/// C5: a RayCluster grows: each pod set alone fits into what is free, both together do not.
TEST(Document, C5_PodSetsThatFitOnlyAloneLackSomething) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("runs", "q").cpu(1)).run();
  s.after(1).submit(Job("ray", "q").cpu(1).pods("workers").cpu(1).count(3)).run();
  const json::object seen = document(s, "ray");
  // 4 − 1 = 3 are free: 1 for the head, and of the 3 for the workers 1 is missing.
  EXPECT_EQ(at(seen, "/podSets/0/resources/0/flavors/0/missing"), "0");
  EXPECT_EQ(at(seen, "/podSets/1/resources/0/flavors/0/available"), "2");
  EXPECT_EQ(at(seen, "/podSets/1/resources/0/flavors/0/missing"), "1");
  EXPECT_EQ(at(seen, "/now"), "cpu of pod set workers: 1 more of flavor f");
  EXPECT_THAT(at(seen, "/wouldHelp/0"), HasSubstr("1 cpu more of flavor f: held by ns/runs (1)"));
}

/// C5: the head takes the first flavor that has room for it, and the workers look at what is left.
TEST(Document, C5_EarlierPodSetsTakeTheFlavorThatHasRoom) {
  Scenario s;
  s.flavor("a").flavor("b").queue(Queue("q").quota("cpu", {{"a", 1}, {"b", 4}}));
  s.submit(Job("ray", "q").cpu(2).pods("workers").cpu(1).count(3)).run();
  const json::object seen = document(s, "ray");
  EXPECT_EQ(at(seen, "/podSets/1/resources/0/flavors/0/available"), "1");  // a is as it was
  EXPECT_EQ(at(seen, "/podSets/1/resources/0/flavors/1/available"), "2");  // b has 4 − 2
  EXPECT_EQ(at(seen, "/podSets/1/resources/0/flavors/1/missing"), "1");
}

/// One flavor has to serve all resources of a group: cpu here and memory there is of no use.
TEST(Document, AFlavorIsJudgedByAllThatItHasToServe) {
  Scenario s;
  s.flavor("f").flavor("g");
  s.queue(Queue("q").quota("cpu", {{"f", 2}, {"g", 9}}).with("memory", {9, 3}));
  s.submit(Job("runs", "q").cpu(1).request("memory", 1)).run();  // on f
  s.after(1).submit(Job("wants", "q").cpu(2).request("memory", 4)).run();
  const json::object seen = document(s, "wants");
  EXPECT_EQ(at(seen, "/now"),
            "cpu and memory of pod set main: 1 cpu more of flavor f, or flavor g has 3 memory at "
            "most");
  EXPECT_EQ(at(seen, "/wouldHelp"),
            R"(["1 cpu more of flavor f: held by ns/runs (1); some of them would have to finish, )"
            R"(or the nominal quota to grow by 1"])");
}

/// Two of eight pods are there: six are free of the seven, and nine there never are.
TEST(Document, PodsAreCountedWhereTheQueueCoversThem) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 9}}).with("pods", {8}));
  s.submit(Job("two", "q").cpu(0).count(2)).run();
  s.submit(Job("seven", "q").cpu(0).count(7)).submit(Job("nine", "q").cpu(0).count(9)).run();
  const json::object seven = document(s, "seven");
  EXPECT_EQ(at(seven, "/podSets/0/resources/1/requested"), "7");
  EXPECT_EQ(at(seven, "/now"), "pods of pod set main: 1 more of flavor f");
  EXPECT_EQ(at(seven, "/wouldHelp"),
            R"(["1 pod more of flavor f: held by ns/two (2); some of them would have to finish, )"
            R"(or the nominal quota to grow by 1"])");
  EXPECT_EQ(at(document(s, "nine"), "/now"), "pods of pod set main: flavor f has 8 at most");
}

TEST(Document, AllThatAFlavorLacksIsNamed) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 3}}).with("memory", {9}));
  s.submit(Job("runs", "q").cpu(2).request("memory", 8)).run();
  s.after(1).submit(Job("wants", "q").cpu(3).request("memory", 3)).run();
  const json::object seen = document(s, "wants");
  EXPECT_EQ(at(seen, "/now"),
            "cpu and memory of pod set main: 2 cpu and 2 memory more of flavor f");
  EXPECT_EQ(at(seen, "/wouldHelp"),
            R"(["2 cpu more of flavor f: held by ns/runs (2); some of them would have to finish, )"
            R"(or the nominal quota to grow by 2; and 2 memory more of flavor f: held by ns/runs )"
            R"((8); some of them would have to finish, or the nominal quota to grow by 2"])");
}

/// Each pod set needs what its own line says: 1 + 2 = 3 more, and 4 − 3 = 1 is free.
TEST(Document, WhatAnEarlierPodSetNeedsIsNotThereForALaterOne) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("runs", "q").cpu(3)).run();
  s.after(1).submit(Job("ray", "q").cpu(2).pods("workers").cpu(2)).run();
  const std::string held =
      ": held by ns/runs (3); some of them would have to finish, or the nominal quota to grow by ";
  EXPECT_EQ(at(document(s, "ray"), "/wouldHelp"), R"(["pod set main: 1 cpu more of flavor f)" +
                                                      held + R"(1","pod set workers: 2 cpu )" +
                                                      "more of flavor f" + held + R"(2"])");
  s.after(1).submit(Job("never", "q").cpu(3).pods("workers").cpu(3)).run();
  EXPECT_EQ(at(document(s, "never"), "/wouldHelp/1"),
            "pod set workers: 3 cpu of flavor f can never be had: at most 1 cpu of q beside its "
            "other pod sets; its quota, or what may be borrowed, would have to grow by 2");
}

/// 20 pods are asked for, 2 are enough, and 1 of 4 is free.
TEST(Document, OneThatMayStartWithFewerNeedsNoMoreThanThese) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 4}}));
  s.submit(Job("runs", "q").cpu(3)).run();
  s.after(1).submit(Job("flex", "q").cpu(1).count(20).min_count(2)).run();
  const json::object seen = document(s, "flex");
  EXPECT_EQ(at(seen, "/podSets/0/count") + " " + at(seen, "/podSets/0/minCount"), "20 2");
  EXPECT_EQ(at(seen, "/now"), "cpu of pod set main: 1 more of flavor f");
  EXPECT_THAT(at(seen, "/wouldHelp/0"), HasSubstr("the nominal quota to grow by 1"));
  EXPECT_THAT(explanation_text(seen), HasSubstr("Pod set main, 20 pods, at least 2:\n"));
}

TEST(Document, ABackoffThatIsOverIsNoObstacleAndAGateIsOne) {
  Scenario s;
  s.flavor("f").queue(Queue("q").quota("cpu", {{"f", 1}}));
  Job gated = Job("gated", "q").cpu(1);
  gated.object.is_gated = true;
  gated.object.held_because = "Admission is gated by: a";
  gated.object.status.requeue_state.emplace().requeue_at = s.now() - 1;
  s.submit(gated).run();
  EXPECT_EQ(at(document(s, "gated"), "/wouldHelp"),
            R"(["whoever gated its admission has to take the annotation )"
            R"(kueue.x-k8s.io/admission-gated-by away"])");
}

}  // namespace
}  // namespace sluice::host
