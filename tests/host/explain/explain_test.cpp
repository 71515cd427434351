// Explanations: the advice and the text, of numbers and of documents.
#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/json/json.hpp"
#include "host/explain/advice.hpp"
#include "host/explain/text.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// One pod set `main` that asks for 4 cpu of the queue `cq`.
Explanation asking(std::vector<FlavorAnswer> flavors) {
  Explanation out;
  out.cluster_queue = "cq";
  out.pod_sets.push_back({"main", 1, 1, {{"cpu", 4000, true, 0, std::move(flavors)}}});
  return out;
}

FlavorAnswer flavor(const std::string& name, std::int64_t available, std::int64_t maximum) {
  FlavorAnswer out;
  out.flavor = name;
  out.available = available * 1000;
  out.maximum = out.nominal = maximum * 1000;
  out.missing = std::max<std::int64_t>(0, 4000 - out.available);
  out.never = maximum < 4;
  return out;
}

FlavorAnswer unsuitable(const std::string& name, const std::string& why) {
  FlavorAnswer out = flavor(name, 9, 9);
  out.unsuitable = why;
  return out;
}

QuotaHolder holder(const std::string& name, const std::string& flavor, std::int64_t cpus) {
  return {name, "cq", flavor, "cpu", cpus * 1000, 0, 0};
}

TEST(ExplanationText, WhatEndedRanAndWhoHasNoQueueHasNoNumbers) {
  const auto text = [](const char* document) {
    return explanation_text(json::parse(document).get_object());
  };
  const char* const admission = R"({"metadata":{"namespace":"ns","name":"w"},"state":"STATE",
      "admission":[{"name":"main","count":1,"flavors":{"cpu":"spot"}}]})";
  std::string runs(admission), ended(admission);
  runs.replace(runs.find("STATE"), 5, "Admitted");
  ended.replace(ended.find("STATE"), 5, "Finished");
  EXPECT_THAT(text(runs.c_str()), HasSubstr("Runs on"));
  EXPECT_THAT(text(ended.c_str()), HasSubstr("Ran on"));
  EXPECT_THAT(text(ended.c_str()), Not(HasSubstr("Runs on")));
  EXPECT_THAT(text(R"({"metadata":{"namespace":"ns","name":"w"},"state":"Pending",
                       "podSets":[{"name":"main","count":1,"resources":[]}]})"),
              Not(HasSubstr("RESOURCE")));
}

TEST(Advice, OfNumbers) {
  Explanation held = asking({flavor("spot", 2, 9)});
  held.holders = {holder("team-b/train-1", "spot", 2)};
  Explanation many = held;
  many.holders = {holder("a/1", "spot", 4), holder("a/2", "spot", 3), holder("a/3", "spot", 2),
                  holder("a/4", "spot", 1), holder("a/5", "spot", 1)};
  many.others = {{"spot", "cpu", 1, 500, 7, 7000}};
  Explanation strangers = asking({flavor("spot", 0, 9)});
  strangers.others = {{"spot", "cpu", 3, 9000, 0, 0}};
  Explanation nowhere = asking({});
  nowhere.cluster_queue.clear();
  Explanation refused = asking({unsuitable("spot", "plugin budget: spent")});
  refused.refusals = {{"budget", "main", "spot", "spent"}};
  Explanation uncovered = asking({});
  uncovered.pod_sets[0].resources[0].covered = false;
  struct Case {
    const char* what;
    Explanation explanation;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases = {
      {"a holder",
       held,
       {"2 cpu more of flavor spot: held by team-b/train-1 (2); some of them would have to finish, "
        "or the nominal quota to grow by 2"}},
      // 1 + 1 of the list and 7 of the sum: 9 more with 9 cpu.
      {"many holders",
       many,
       {"2 cpu more of flavor spot: held by a/1 (4), a/2 (3), a/3 (2), 9 more workloads (9), 1 "
        "workload of other namespaces (500m); some of them would have to finish, or the nominal "
        "quota to grow by 2"}},
      {"nobody that may be named",
       strangers,
       {"4 cpu more of flavor spot: held by 3 workloads of other namespaces (9); some of them "
        "would have to finish, or the nominal quota to grow by 4"}},
      {"nobody at all",
       asking({flavor("spot", 1, 4)}),
       {"3 cpu more of flavor spot: the nominal quota would have to grow by 3"}},
      {"never",
       asking({flavor("spot", 3, 3)}),
       {"4 cpu of flavor spot can never be had: at most 3 cpu of cq; its quota, or what may be "
        "borrowed, would have to grow by 1"}},
      {"never here, but there",
       asking({flavor("spot", 3, 3), flavor("big", 3, 8)}),
       {"1 cpu more of flavor big: the nominal quota would have to grow by 1"}},
      {"one fits", asking({flavor("spot", 3, 9), flavor("big", 4, 8)}), {}},
      {"none suits",
       asking({unsuitable("gpu", "untolerated taint gpu"), unsuitable("spot", "not its label")}),
       {"no flavor of cq is for these pods (gpu: untolerated taint gpu; spot: not its label): they "
        "would have to change, or the queue to get one that is"}},
      {"a plugin has a say", refused, {}},
      {"the one that fits does not suit",
       asking({unsuitable("gpu", "untolerated taint gpu"), flavor("spot", 3, 9)}),
       {"1 cpu more of flavor spot: the nominal quota would have to grow by 1"}},
      {"no quota", uncovered, {"cpu: cq has no quota of it; it would have to get some"}},
      {"no queue", nowhere, {}},
  };
  for (const Case& each : cases) EXPECT_EQ(advice_of(each.explanation), each.expected) << each.what;
}

TEST(Advice, LastsWhereNoEndHelps) {
  EXPECT_THAT(lasting_advice_of(asking({flavor("spot", 2, 9)})), ::testing::IsEmpty());
  EXPECT_THAT(lasting_advice_of(asking({flavor("spot", 3, 3), flavor("big", 3, 8)})),
              ::testing::IsEmpty());
  EXPECT_THAT(lasting_advice_of(asking({flavor("spot", 3, 3), unsuitable("gpu", "a taint")})),
              ::testing::ElementsAre(HasSubstr("4 cpu of flavor spot can never be had")));
}

TEST(Now, OfNumbers) {
  Explanation uncovered = asking({});
  uncovered.pod_sets[0].resources[0].covered = false;
  Explanation nowhere = asking({});
  nowhere.cluster_queue.clear();
  Explanation two = asking({flavor("spot", 9, 9)});
  two.pod_sets.push_back(two.pod_sets.front());
  struct Case {
    const char* what;
    Explanation explanation;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"short of it", asking({flavor("spot", 2, 9)}), "cpu of pod set main: 2 more of flavor spot"},
      {"of each", asking({flavor("spot", 3, 3), flavor("big", 1, 9)}),
       "cpu of pod set main: flavor spot has 3 at most, or 3 more of flavor big"},
      {"one is not for it", asking({unsuitable("gpu", "untolerated taint gpu")}),
       "cpu of pod set main: flavor gpu is not for it"},
      {"no quota", uncovered, "cpu of pod set main: cq has no quota of it"},
      {"enough", asking({flavor("spot", 9, 9)}), "what it asks for is free at this moment"},
      {"enough for each", two, "what its pod sets ask for is free at this moment"},
      {"in no queue", nowhere, ""},
  };
  for (const Case& each : cases) EXPECT_EQ(now_text(each.explanation), each.expected) << each.what;
}

/// A request may name thousands of resources that nobody has.
TEST(Advice, OfManyThatLackIsCut) {
  Explanation many = asking({});
  many.pod_sets[0].resources.clear();
  for (int i = 0; i < 60; ++i)
    many.pod_sets[0].resources.push_back({"r" + std::to_string(i), 1, false, 0, {}});
  const std::vector<std::string> lines = advice_of(many);
  ASSERT_EQ(lines.size(), 51U);
  EXPECT_EQ(lines.back(), "10 more of this kind");
  EXPECT_THAT(now_text(many), HasSubstr("; 10 more of this kind"));
}

/// Line by line, as it stands on a terminal.
TEST(Text, OfOneThatWaits) {
  const auto parsed = json::parse(R"({
    "metadata":{"namespace":"team-a","name":"train-2"},"state":"Pending",
    "reason":"WaitingForQuota","message":"not enough","time":"2026-01-01T01:00:00Z",
    "since":"2026-01-01T00:54:57Z",
    "queue":{"localQueue":"main","clusterQueue":"cq","cohorts":["team","all"],
      "positionInClusterQueue":3,"pendingInClusterQueue":7,"positionInLocalQueue":1,
      "pendingInLocalQueue":2,"parked":true},
    "podSets":[{"name":"main","count":1,"resources":[
      {"resource":"cpu","requested":"4","flavors":[
        {"flavor":"on-demand","available":"9","maximum":"9","missing":"0",
         "unsuitable":"untolerated taint gpu"},
        {"flavor":"spot","available":"2","maximum":"4","missing":"2"}]},
      {"resource":"disk","requested":"1","covered":false,"flavors":[]}]}],
    "refusals":[{"plugin":"budget","flavor":"spot","message":"spent"},{"message":"ours"}],
    "checks":[{"name":"c","state":"Retry","message":"later"}],
    "evicted":{"since":"2026-01-01T00:58:00Z","reason":"Preempted","message":"for b"},
    "wouldHelp":["2 cpu more"]})");
  EXPECT_EQ(explanation_text(parsed.get_object()),
            R"(team-a/train-2: Pending, WaitingForQuota
  Since     2026-01-01T00:54:57Z (5m3s ago)
  Queue     LocalQueue main of ClusterQueue cq, cohort /all/team
  Position  3 of 7 in the ClusterQueue, 1 of 2 in the LocalQueue; parked until something changes
  Ahead     2 workloads
  Why       not enough
  Said no   plugin budget for flavor spot: spent
  Checks    c Retry (later)
  Evicted   2026-01-01T00:58:00Z (2m ago), Preempted: for b

Pod set main, 1 pod:
  RESOURCE  ASKED  FLAVOR     FREE  AT MOST  MISSING
  cpu       4      on-demand  9     9        0        untolerated taint gpu
                   spot       2     4        2
  disk      1      -          -     -        -        the queue has no quota of it

What would have to happen:
  - 2 cpu more
)");
}

TEST(Text, OfOneThatRuns) {
  const auto parsed = json::parse(R"({
    "metadata":{"namespace":"ns","name":"a"},"state":"Admitted","reason":"Admitted",
    "message":"The workload is admitted","time":"2026-01-03T01:00:00Z",
    "since":"2026-01-01T00:00:00Z","queue":{"localQueue":"q","clusterQueue":"cq"},
    "admission":[{"name":"main","count":2,"flavors":{"cpu":"spot"},"usage":{"cpu":"500m"}}],
    "wouldHelp":[]})");
  EXPECT_EQ(explanation_text(parsed.get_object()),
            R"(ns/a: Admitted
  Since    2026-01-01T00:00:00Z (2d1h ago)
  Queue    LocalQueue q of ClusterQueue cq
  Why      The workload is admitted
  Runs on  pod set main: 2 pods, 500m cpu of flavor spot
)");
}

/// 3209715200 = 2.989 · 2³⁰; 1536Mi is short enough. What a quota has to grow by stays exact.
TEST(Text, AmountsAreForPeople) {
  EXPECT_EQ(amount_of("memory", 3209715200), "2.99Gi memory");
  EXPECT_EQ(amount_of("memory", 35654705664), "33.2Gi memory");
  EXPECT_EQ(amount_of("memory", 1536 << 20), "1536Mi memory");
  EXPECT_EQ(amount_of("memory", (std::int64_t{3} << 30) + 1), "3Gi memory");
  EXPECT_EQ(amount_of("memory", -3209715200), "-2.99Gi memory");
  EXPECT_EQ(amount_of("example.com/thing", 3209715200), "3209715200 example.com/thing");
  EXPECT_EQ(amount_of("pods", 1) + ", " + amount_of("pods", 2), "1 pod, 2 pods");
  const auto parsed = json::parse(R"({
    "admission":[{"name":"main","count":1,"flavors":{"memory":"f","pods":"f"},
      "usage":{"memory":"3209715200","pods":"1"}}],
    "podSets":[{"name":"main","count":1,"resources":[{"resource":"memory",
      "requested":"35654705664","flavors":[{"flavor":"f","available":"3209715200",
      "maximum":"4Gi","missing":"0"}]}]}]})");
  const std::string text = explanation_text(parsed.get_object());
  EXPECT_THAT(text, HasSubstr("1 pod, 2.99Gi memory of flavor f, 1 pod of flavor f\n"));
  EXPECT_THAT(text, HasSubstr("memory    33.2Gi  f       2.99Gi  4Gi      0\n"));
  Explanation short_of = asking({flavor("spot", 2, 9)});
  ResourceAnswer& resource = short_of.pod_sets[0].resources[0];
  resource.resource = "memory";
  resource.flavors[0].missing = 3209715200;
  EXPECT_THAT(advice_of(short_of)[0],
              ::testing::AllOf(HasSubstr("2.99Gi memory more"), HasSubstr("grow by 3209715200")));
}

TEST(Text, OfOneThatNamesNoQueue) {
  const auto parsed = json::parse(R"({
    "metadata":{"namespace":"ns","name":"a"},"state":"Pending","reason":"Misconfigured",
    "message":"The workload names no LocalQueue","queue":{"localQueue":""},
    "wouldHelp":["it names no queue"]})");
  EXPECT_EQ(explanation_text(parsed.get_object()),
            R"(ns/a: Pending, Misconfigured
  Why  The workload names no LocalQueue

What would have to happen:
  - it names no queue
)");
}

TEST(Text, OfAnEmptyDocumentIsNoAccident) { EXPECT_THAT(explanation_text({}), HasSubstr("/: ")); }

}  // namespace
}  // namespace sluice::host
