// What the mirror has after lists, events and objects that it cannot read.
#include "host/observe/mirror.hpp"

#include "tests/host/observe/mirror_fixture.hpp"

namespace sluice::host {
namespace {

using Keys = std::set<std::string>;

TEST(Mirror, FollowsWhatTheSchemeKnowsPreferredVersionFirst) {
  const MirrorFixture fixture;
  std::set<std::string> kinds;
  for (const FollowedKind& each : kinds_to_follow(fixture.rules->scheme, false)) {
    kinds.insert(each.kind->kind);
    if (each.kind->kind == "Workload") {
      EXPECT_EQ(each.api_versions,
                (std::vector<std::string>{"kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1"}));
    }
  }
  EXPECT_EQ(kinds, (Keys{"AdmissionCheck", "ClusterQueue", "Cohort", "LimitRange", "LocalQueue",
                         "Namespace", "PriorityClass", "ResourceFlavor", "RuntimeClass", "Workload",
                         "WorkloadPriorityClass"}));
  EXPECT_EQ(kinds_to_follow(fixture.rules->scheme, true).size(), kinds.size() + 1) << "and Jobs";
}

TEST(Mirror, AListTakesAwayWhatItDoesNotHave) {
  MirrorFixture fixture;
  for (const char* name : {"a", "b"})
    fixture.put("ResourceFlavor", R"({"metadata":{"name":")" + std::string(name) + "\"}}");
  fixture.settle();
  const api::KindInfo& flavors = fixture.kind("ResourceFlavor");
  fixture.mirror.list_begins(flavors, 1);
  fixture.put("ResourceFlavor", R"({"metadata":{"name":"b"}})");
  fixture.put("ResourceFlavor", R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(fixture.keys("ResourceFlavor"), (Keys{"a", "b", "c"})) << "until the list is whole";
  fixture.mirror.list_ends(flavors);
  EXPECT_EQ(fixture.keys("ResourceFlavor"), (Keys{"b", "c"}));
  fixture.mirror.remove(flavors, boost::json::parse(R"({"metadata":{"name":"b"}})").as_object());
  EXPECT_EQ(fixture.keys("ResourceFlavor"), Keys{"c"});
}

TEST(Mirror, WhatIsTheSameIsNoChange) {
  MirrorFixture fixture;
  fixture.put("ResourceFlavor", R"({"metadata":{"name":"a","resourceVersion":"1"}})");
  fixture.settle();
  const std::uint64_t version = fixture.store.version();
  fixture.put("ResourceFlavor", R"({"metadata":{"name":"a","resourceVersion":"2"}})");
  fixture.settle();
  EXPECT_EQ(fixture.store.version(), version);
  fixture.put("ResourceFlavor", R"({"metadata":{"name":"a","labels":{"x":"y"}}})");
  fixture.settle();
  EXPECT_GT(fixture.store.version(), version);
}

TEST(Mirror, KeepsAStatusAsItIsAndNotWhoWroteIt) {
  MirrorFixture fixture;
  fixture.put("Workload", MirrorFixture::workload("w", "q", 2, 0, MirrorFixture::admitted("q", 2)));
  const StoredObject* stored = fixture.store.find(fixture.kind("Workload"), "ns/w");
  ASSERT_NE(stored, nullptr);
  EXPECT_NE(stored->status.find(R"("resourceUsage":{"cpu":"2"})"), std::string::npos)
      << stored->status;
  EXPECT_EQ(stored->metadata.text().find("managedFields"), std::string::npos);
}

TEST(Mirror, AWorkloadWaitsForItsPriorityClass) {
  MirrorFixture fixture;
  std::string object = MirrorFixture::workload("w", "q", 1, 0);
  const std::string priority = R"("priority":0)";
  object.replace(object.find(priority), priority.size(),
                 R"("priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass",)"
                 R"("name":"high"})");
  fixture.put("Workload", object);
  fixture.settle();
  ASSERT_EQ(fixture.mirror.unread().size(), 1U);
  EXPECT_EQ(fixture.mirror.unread()[0].key, "ns/w");
  EXPECT_EQ(fixture.keys("Workload"), Keys{});
  fixture.put("WorkloadPriorityClass", R"({"metadata":{"name":"high"},"value":100})");
  fixture.settle();
  EXPECT_TRUE(fixture.mirror.unread().empty());
  EXPECT_EQ(fixture.keys("Workload"), Keys{"ns/w"});
}

TEST(Mirror, AnObjectThatCannotBeReadIsNeitherKeptNorForgotten) {
  MirrorFixture fixture;
  fixture.queue("q", 1);
  const std::string wrong = R"({"metadata":{"name":"q"},"spec":{"resourceGroups":[{}]}})";
  fixture.put("ClusterQueue", wrong);
  EXPECT_EQ(fixture.keys("ClusterQueue"), Keys{}) << "its earlier form is not how it is";
  ASSERT_EQ(fixture.mirror.unread().size(), 1U);
  EXPECT_NE(fixture.mirror.unread()[0].why, "");
  fixture.queue("q", 2);
  EXPECT_TRUE(fixture.mirror.unread().empty());
  fixture.put("ClusterQueue", wrong);
  fixture.mirror.list_begins(fixture.kind("ClusterQueue"), 1);
  fixture.mirror.list_ends(fixture.kind("ClusterQueue"));
  EXPECT_TRUE(fixture.mirror.unread().empty()) << "it is gone";
}

TEST(Mirror, TellsOfUnknownFieldsAndTakesTheRest) {
  MirrorFixture fixture;
  fixture.put("ResourceFlavor", R"({"metadata":{"name":"a"},"spec":{"ofTheFuture":1}})");
  fixture.settle();
  EXPECT_EQ(fixture.keys("ResourceFlavor"), Keys{"a"});
  EXPECT_EQ(fixture.mirror.unknown_fields(),
            std::vector<std::string>{"ResourceFlavor: unknown field \"spec.ofTheFuture\""});
}

}  // namespace
}  // namespace sluice::host
