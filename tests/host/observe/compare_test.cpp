// What Sluice would do with the workloads of a mirror, as document and as text.
#include "host/observe/compare.hpp"

#include <boost/json/serialize.hpp>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "tests/host/observe/mirror_fixture.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

struct Compared : MirrorFixture {
  Configuration config;

  json::object document() {
    settle();
    auto trial = Trial::make({config, *rules, store}, *parse_time("2026-01-01T01:00:00Z"));
    EXPECT_TRUE(trial);
    return comparison(**trial, mirror);
  }
  std::uint64_t version() const { return store.version(); }
};

TEST(Comparison, OfEachWorkloadThatWaits) {
  Compared compared;
  // 3 cpu, of which 2 are held; the next in line fits, the one behind it does not.
  compared.queue("q", 3);
  compared.put("Workload", Compared::workload("held", "q", 2, 0, Compared::admitted("q", 2)));
  compared.put("Workload", Compared::workload("first", "q", 1, 9));
  compared.put("Workload",
               Compared::workload(
                   "second", "q", 1, 0,
                   R"({"conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending",)"
                   R"("message":"no room","lastTransitionTime":"2026-01-01T00:00:00Z"}]})"));
  const json::object document = compared.document();
  EXPECT_EQ(comparison_text(document),
            "! ns/first, queue q of ClusterQueue q\n"
            "    Sluice   would admit it: pod set main: 1 pod, 1 cpu of flavor default\n"
            "    cluster  Pending: nothing is said of it yet\n"
            "= ns/second, queue q of ClusterQueue q\n"
            "    Sluice   would let it wait: couldn't assign flavors to pod set main: insufficient "
            "unused quota for cpu in flavor default, 1 more needed\n"
            "    cluster  Pending: no room\n"
            "2 workloads wait; Sluice would decide otherwise about 1\n");
  EXPECT_FALSE(agrees(document));
}

TEST(Comparison, NamesWhomItWouldPreempt) {
  Compared compared;
  compared.queue("q", 2, R"("preemption":{"withinClusterQueue":"LowerPriority"},)");
  compared.put("Workload", Compared::workload("low", "q", 2, 0, Compared::admitted("q", 2)));
  compared.put("Workload", Compared::workload("high", "q", 2, 9));
  const std::uint64_t before = compared.version();
  const json::object document = compared.document();
  const json::object& row = api::find_array(document, "workloads")->at(0).get_object();
  EXPECT_EQ(json::serialize(*part(row, "sluice").if_contains("preempts")), R"(["ns/low"])");
  const json::object& eviction = api::find_array(document, "evictions")->at(0).get_object();
  EXPECT_EQ(api::find_text(eviction, "workload"), "ns/low");
  EXPECT_EQ(api::find_text(eviction, "by"), "ns/high");
  EXPECT_EQ(api::find_text(eviction, "reason"), "Preempted");
  // The mirror shows the cluster, whatever was tried.
  EXPECT_GT(compared.version(), before);
  const StoredObject* low = compared.store.find(compared.kind("Workload"), "ns/low");
  EXPECT_EQ(api::find_text(cluster_says(*low), "state"), "Admitted");
}

TEST(Comparison, NothingToDoIsAgreement) {
  Compared compared;
  compared.queue("q", 1);
  compared.put("Workload", Compared::workload("held", "q", 1, 0, Compared::admitted("q", 1)));
  compared.put("Workload", Compared::workload("waits", "q", 1, 0));
  EXPECT_TRUE(agrees(compared.document()));
}

TEST(Comparison, WhatASluiceWouldEvictForNobodyIsTold) {
  Compared compared;
  compared.queue("q", 1, R"("stopPolicy":"HoldAndDrain",)");
  compared.put("Workload", Compared::workload("held", "q", 1, 0, Compared::admitted("q", 1)));
  const json::object document = compared.document();
  EXPECT_FALSE(agrees(document));
  EXPECT_EQ(comparison_text(document),
            "! ns/held\n    Sluice   would evict it, ClusterQueueStopped: The ClusterQueue is "
            "stopped\n0 workloads wait; Sluice would decide otherwise about 0\n");
}

TEST(Comparison, SaysWhatHasNoPartInIt) {
  Compared compared;
  compared.put("ResourceFlavor", R"({"metadata":{"name":"a"},"spec":{"x":1}})");
  compared.put("ClusterQueue", R"({"metadata":{"name":"q"},"spec":{"resourceGroups":[{}]}})");
  const std::string text = comparison_text(compared.document());
  EXPECT_NE(text.find("? ClusterQueue q has no part in this: spec.resourceGroups[0]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("? left out, as not known here: ResourceFlavor: unknown field \"spec.x\"\n"),
            std::string::npos)
      << text;
}

TEST(ClusterSays, TheLastStepThatWasTaken) {
  struct Case {
    const char *conditions, *says;
  };
  for (const Case& c :
       {Case{"", R"({"state":"Pending","message":"nothing is said of it yet"})"},
        Case{R"({"type":"QuotaReserved","status":"True"})", R"({"state":"QuotaReserved"})"},
        Case{R"({"type":"QuotaReserved","status":"True"},{"type":"Admitted","status":"False"})",
             R"({"state":"QuotaReserved"})"},
        Case{R"({"type":"QuotaReserved","status":"True"},{"type":"Admitted","status":"True"})",
             R"({"state":"Admitted"})"},
        Case{R"({"type":"Finished","status":"True","message":"done"})",
             R"({"state":"Finished","message":"done"})"},
        Case{R"({"type":"QuotaReserved","status":"False","reason":"Pending","message":"m"})",
             R"({"state":"Pending","reason":"Pending","message":"m"})"}}) {
    StoredObject stored;
    stored.status = R"({"conditions":[)" + std::string(c.conditions) + "]}";
    EXPECT_EQ(json::serialize(cluster_says(stored)), c.says);
  }
}

}  // namespace
}  // namespace sluice::host
