// What a new object is given and what it may bring along: its name, identity, status, marks, owners
// of fields, and how large it may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/objects/marks.hpp"
#include "host/writes/size_limit.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

using testing::HasSubstr;

// The fixture's suffixes are bbbbb, cbbbb, dbbbb, …: the first letter counts in an alphabet without
// vowels.
constexpr std::string_view kFirstLetters = "bcdfghjk";

std::string named_map(const std::string& metadata) { return R"({"metadata":{)" + metadata + "}}"; }

TEST(NewNames, AGeneratedNameIsNoLongerThanALabel) {
  HostFixture host;
  const std::string base(70, 'g');
  const auto made = host.create("configmaps", named_map(R"("generateName":")" + base + "\""));
  ASSERT_TRUE(made.ok()) << made.error().text;
  EXPECT_EQ(made->object.key, "default/" + base.substr(0, 58) + "bbbbb");
}

TEST(NewNames, ANameIsNotGeneratedWhereThereIsOne) {
  HostFixture host;
  const auto made = host.create("configmaps", named_map(R"("name":"m","generateName":"g-")"));
  ASSERT_TRUE(made.ok()) << made.error().text;
  EXPECT_EQ(made->object.key, "default/m");
}

// Eight are drawn: the eighth may still be free.
TEST(NewNames, AFreeOneIsLookedForEightTimes) {
  for (const std::size_t taken : {7U, 8U}) {
    HostFixture host;
    for (const char first : kFirstLetters.substr(0, taken))
      ASSERT_TRUE(
          host.create("configmaps", named_map(R"("name":"g-)" + std::string(1, first) + "bbbb\""))
              .ok());
    const auto made = host.create("configmaps", named_map(R"("generateName":"g-")"));
    ASSERT_EQ(made.ok(), taken == 7);
    if (made.ok()) {
      EXPECT_EQ(made->object.key, "default/g-kbbbb");
    } else {
      EXPECT_EQ(made.error().code, 409);
      EXPECT_THAT(made.error().text,
                  HasSubstr("configmaps \"g-\": no free name was found for metadata.generateName; "
                            "try again"));
    }
  }
}

constexpr const char* kBornElsewhere = R"({"metadata":{"name":"q","namespace":"default",
    "uid":"mine","creationTimestamp":"2020-01-01T00:00:00Z","generation":7},
    "spec":{"clusterQueue":"cq"},"status":{"pendingWorkloads":5}})";

// Who puts a state back brings identity and status along; anybody else is given them.
TEST(NewObjects, AStateThatIsPutBackIsAsItWas) {
  HostFixture host;
  WriteRequest request = host.request(WriteVerb::kCreate, "localqueues", "", kBornElsewhere);
  request.restore = true;
  const auto made = host.machine.write(request);
  ASSERT_TRUE(made.ok()) << made.error().text;
  const auto object = host.get("localqueues", "default/q");
  EXPECT_EQ(at(object, "/metadata/uid"), "mine");
  EXPECT_EQ(at(object, "/metadata/creationTimestamp"), "2020-01-01T00:00:00Z");
  EXPECT_EQ(at(object, "/metadata/generation"), "7");
  EXPECT_EQ(at(object, "/status/pendingWorkloads"), "5");
}

TEST(NewObjects, SomeKindsBeginWithAStatus) {
  constexpr const char* kTeam = R"({"metadata":{"name":"team"}})";
  constexpr const char* kEnding = R"({"metadata":{"name":"team"},"status":{"phase":"Ending"}})";
  const struct {
    const char* body;
    bool restore;
    const char* phase;
  } rows[] = {
      {kTeam, false, "Active"},
      {kEnding, false, "Active"},
      {kTeam, true, "Active"},
      {kEnding, true, "Ending"},
  };
  for (const auto& row : rows) {
    HostFixture host;
    WriteRequest request = host.request(WriteVerb::kCreate, "namespaces", "", row.body);
    request.restore = row.restore;
    ASSERT_TRUE(host.machine.write(request).ok());
    EXPECT_EQ(at(host.get("namespaces", "team"), "/status/phase"), row.phase) << row.body;
  }
}

// A kind without a status has no such field.
TEST(NewObjects, AStatusWhereThereIsNoneIsAnUnknownField) {
  HostFixture host;
  const auto made =
      host.create("configmaps", R"({"metadata":{"name":"m"},"status":{"phase":"Active"}})");
  ASSERT_TRUE(made.ok()) << made.error().text;
  EXPECT_EQ(made->warnings, std::vector<std::string>{"unknown field \"status\""});
}

constexpr const char* kSuspendedJob = R"({"metadata":{"name":"j"},"spec":{"suspend":true,
    "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})";

// A Job says its own uid, also one that was prepared before it had any.
TEST(NewObjects, AJobNamesItselfInItsSelector) {
  HostFixture host;
  WriteRequest request = host.request(WriteVerb::kCreate, "jobs", "", kSuspendedJob);
  ASSERT_TRUE(host.machine.write(request).ok());
  request.restore = true;
  auto& body = request.body.as_object();
  body["apiVersion"] = "batch/v1";
  body["kind"] = "Job";
  body["metadata"] = {{"name", "k"}, {"namespace", "default"}};
  request.prepared = std::make_shared<PreparedObject>(host.intake.encode(host.kind("jobs"), body));
  ASSERT_TRUE(host.machine.write(request).ok());
  for (const char* key : {"default/j", "default/k"}) {
    const auto job = host.get("jobs", key);
    EXPECT_EQ(at(job, "/spec/selector/matchLabels/batch.kubernetes.io~1controller-uid"),
              at(job, "/metadata/uid"));
  }
}

// Whose job it is: who creates it, and neither whom he names nor who changes it.
TEST(Creators, AreNotedOnceByTheHost) {
  HostFixture host;
  const auto creator = [&host] {
    return at(host.get("jobs", "default/j"), "/metadata/annotations/sluice.dev~1created-by");
  };
  WriteRequest create = host.request(WriteVerb::kCreate, "jobs", "", kSuspendedJob);
  create.user = "alice";
  create.body.at("metadata").as_object()["annotations"] = {{kCreatedBy, "carol"}};
  ASSERT_TRUE(host.machine.write(create).ok());
  EXPECT_EQ(creator(), "alice");
  WriteRequest patch = host.request(WriteVerb::kPatch, "jobs", "j", R"({"metadata":{
      "annotations":{"sluice.dev/created-by":"bob","x":"y"}}})");
  patch.user = "bob";
  ASSERT_TRUE(host.machine.write(patch).ok());
  EXPECT_EQ(creator(), "alice");
}

constexpr const char* kMarkedWorkload = R"({"apiVersion":"kueue.x-k8s.io/v1beta2",
    "kind":"Workload","metadata":{"name":"w","namespace":"default",
    "labels":{"kueue.x-k8s.io/job-uid":"j"},"ownerReferences":[{"apiVersion":"batch/v1",
    "kind":"Job","name":"j","uid":"u","controller":true}]},"spec":{"queueName":"q","podSets":[{
    "name":"main","count":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]}})";

// A mark and a controlling owner make a workload that of a job: only the system says so.
TEST(SystemsWord, IsTheSystemsAlone) {
  HostFixture host;
  const auto refused = host.create("workloads", kMarkedWorkload);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, 422);
  EXPECT_THAT(refused.error().text, HasSubstr("metadata.ownerReferences[0]: Forbidden"));
  host.apply(kMarkedWorkload);
  EXPECT_EQ(at(host.get("workloads", "default/w"), "/metadata/labels"),
            R"({"kueue.x-k8s.io/job-uid":"j"})");
  const auto changed = host.merge("workloads", "w", R"({"metadata":{"ownerReferences":[{
      "apiVersion":"batch/v1","kind":"Job","name":"k","uid":"v","controller":true}]}})");
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, 422);
  EXPECT_TRUE(host.merge("workloads", "w", R"({"metadata":{"labels":{"a":"b"}}})").ok())
      << "the owner that it has may stay";
}

// What the host keeps beside the object is not the writer's.
TEST(Changes, WhatIsHiddenStays) {
  HostFixture host;
  ASSERT_TRUE(
      host.create("localqueues", R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"cq"}})").ok());
  const auto stored = [&host] { return host.store.find(host.kind("localqueues"), "default/q"); };
  StoredObject changed = *stored();
  changed.hidden = "kept";
  host.store.put(std::move(changed));
  ASSERT_TRUE(host.merge("localqueues", "q", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  EXPECT_EQ(stored()->hidden, "kept");
  ASSERT_TRUE(
      host.merge("localqueues", "q", R"({"status":{"pendingWorkloads":1}})", "status").ok());
  EXPECT_EQ(stored()->hidden, "kept");
}

TEST(FieldOwners, AreThoseWhoGiveTheirName) {
  HostFixture host;
  const auto write = [&host](WriteVerb verb, const char* name, const char* body,
                             const char* manager, const char* subresource = "") {
    WriteRequest request = host.request(verb, "localqueues", name, body);
    request.field_manager = manager;
    request.subresource = subresource;
    const auto done = host.machine.write(request);
    EXPECT_TRUE(done.ok());
    return done.ok() ? to_object(done->object) : boost::json::object();
  };
  constexpr const char* kQueueQ = R"({"metadata":{"name":"q"},"spec":{"clusterQueue":"cq"}})";
  constexpr const char* kQueueR = R"({"metadata":{"name":"r"},"spec":{"clusterQueue":"cq"}})";
  EXPECT_EQ(at(write(WriteVerb::kCreate, "", kQueueQ, ""), "/metadata/managedFields"), "(absent)");
  write(WriteVerb::kCreate, "", kQueueR, "one");
  const auto written =
      write(WriteVerb::kPatch, "r", R"({"status":{"pendingWorkloads":1}})", "two", "status");
  EXPECT_EQ(at(written, "/metadata/managedFields/0/manager"), "one");
  EXPECT_EQ(at(written, "/metadata/managedFields/0/subresource"), "(absent)");
  EXPECT_EQ(at(written, "/metadata/managedFields/1/manager"), "two");
  EXPECT_EQ(at(written, "/metadata/managedFields/1/subresource"), "status");
  EXPECT_EQ(at(written, "/metadata/generation"), "1") << "a status is no change of the spec";
}

// {"a":"…"} is 8 bytes and the text. The host itself may write twice as much.
TEST(SizeLimit, IsReachedByTheLastByteThatMayBe) {
  HostFixture host;
  const auto verdict = [&host](std::size_t bytes, bool by_system) {
    const boost::json::object object{{"a", std::string(bytes - 8, 'x')}};
    const auto refused = too_large(host.kind("configmaps"), "m", object, by_system);
    return refused ? std::to_string(refused->code) + " " + refused->text : "";
  };
  EXPECT_EQ(verdict(kMostObjectBytes, false), "");
  EXPECT_EQ(verdict(kMostObjectBytes + 1, false),
            "413 the ConfigMap \"m\" would be larger than the limit of 1572864 bytes");
  EXPECT_EQ(verdict(2 * kMostObjectBytes, true), "");
  EXPECT_EQ(verdict(2 * kMostObjectBytes + 1, true),
            "413 the ConfigMap \"m\" would be larger than the limit of 3145728 bytes");
}

}  // namespace
}  // namespace sluice::host::test
