// Deletion of pods: they are only marked while a process may run for them, and go when whoever runs
// it says so by deleting them once more, at once.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

std::string pod_text(const std::string& spec, const std::string& phase,
                     const std::string& metadata = "") {
  const std::string status = phase.empty() ? "" : R"(,"status":{"phase":")" + phase + "\"}";
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default")" +
         metadata + R"(},"spec":{)" + spec + R"("containers":[{"name":"c","image":"i"}]})" +
         status + "}";
}

ApiResult<WriteOutcome> remove_pod(HostFixture& host, std::optional<std::int64_t> grace = {}) {
  WriteRequest request = host.request(WriteVerb::kDelete, "pods", "p");
  request.deletion.grace_period_seconds = grace;
  return host.machine.write(request);
}

/// "gone", or until when it has.
std::string end_of(HostFixture& host) {
  if (!host.exists("pods", "default/p")) return "gone";
  const auto left = host.get("pods", "default/p");
  return at(left, "/metadata/deletionGracePeriodSeconds") + " " +
         at(left, "/metadata/deletionTimestamp");
}

// It is 2026-01-01T00:00:00Z. Who deletes it may ask for another time than the pod's own, which is
// 30 s where it says nothing; below 0 is 0, and 68 years are the most.
TEST(PodDeletion, HasSoMuchTimeAsAProcessMayRun) {
  const std::string on_node = R"("nodeName":"n",)";
  const struct {
    std::string spec;
    const char* phase;
    std::optional<std::int64_t> wanted;
    const char* end;
  } rows[] = {
      {on_node, "Running", {}, "30 2026-01-01T00:00:30Z"},
      {on_node, "Pending", {}, "30 2026-01-01T00:00:30Z"},
      {on_node, "", {}, "30 2026-01-01T00:00:30Z"},
      {on_node + R"("terminationGracePeriodSeconds":5,)", "Running", {}, "5 2026-01-01T00:00:05Z"},
      {on_node + R"("terminationGracePeriodSeconds":5,)", "Running", 7, "7 2026-01-01T00:00:07Z"},
      {on_node, "Running", 1, "1 2026-01-01T00:00:01Z"},
      {on_node, "Running", std::numeric_limits<std::int64_t>::max(),
       "2147483647 2094-01-19T03:14:07Z"},
      {on_node, "Running", 0, "gone"},
      {on_node, "Running", -1, "gone"},
      {on_node, "Succeeded", {}, "gone"},
      {on_node, "Failed", {}, "gone"},
      {on_node, "Failed", 7, "gone"},
      {"", "Pending", {}, "gone"},
      {"", "", {}, "gone"},
      {"", "Running", 7, "gone"},
  };
  for (const auto& row : rows) {
    HostFixture host;
    host.apply(pod_text(row.spec, row.phase));
    const auto done = remove_pod(host, row.wanted);
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(end_of(host), row.end) << row.spec << " " << row.phase;
    EXPECT_EQ(done->removed, std::string(row.end) == "gone");
  }
}

// Its generation moves as it is marked: 1, then 2. A second deletion may only give it less time,
// counted from the first one.
TEST(PodDeletion, IsMarkedOnceAndGoesWhenItsTimeIsCutToNothing) {
  HostFixture host;
  host.apply(pod_text(R"("nodeName":"n",)", "Running"));
  ASSERT_TRUE(remove_pod(host, 20).ok());
  EXPECT_EQ(at(host.get("pods", "default/p"), "/metadata/generation"), "2");
  ASSERT_TRUE(remove_pod(host, 25).ok());
  EXPECT_EQ(end_of(host), "20 2026-01-01T00:00:20Z");
  ASSERT_TRUE(remove_pod(host).ok());
  EXPECT_EQ(end_of(host), "20 2026-01-01T00:00:20Z") << "its own 30 s are not less";
  ASSERT_TRUE(remove_pod(host, 10).ok());
  EXPECT_EQ(end_of(host), "10 2026-01-01T00:00:10Z");
  EXPECT_EQ(at(host.get("pods", "default/p"), "/metadata/generation"), "2");
  // A write does not end it: its process may run still.
  ASSERT_TRUE(host.merge("pods", "p", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  EXPECT_EQ(end_of(host), "10 2026-01-01T00:00:10Z");
  ASSERT_TRUE(remove_pod(host, 0).ok());
  EXPECT_EQ(end_of(host), "gone");
}

TEST(PodDeletion, WaitsForFinalizersBesideItsTime) {
  HostFixture host;
  host.apply(pod_text("", "", R"(,"finalizers":["a/b"])"));
  ASSERT_TRUE(remove_pod(host).ok());
  EXPECT_EQ(end_of(host), "0 2026-01-01T00:00:00Z") << "nothing runs: only the finalizer holds it";
  ASSERT_TRUE(host.merge("pods", "p", R"({"metadata":{"finalizers":null}})").ok());
  EXPECT_EQ(end_of(host), "gone");
}

// A force delete ends the process whatever holds the object: who runs it looks at the time.
TEST(PodDeletion, ItsTimeIsCutWhileAFinalizerHoldsIt) {
  HostFixture host;
  host.apply(pod_text(R"("nodeName":"n",)", "Running", R"(,"finalizers":["a/b"])"));
  ASSERT_TRUE(remove_pod(host).ok());
  EXPECT_EQ(end_of(host), "30 2026-01-01T00:00:30Z");
  ASSERT_TRUE(remove_pod(host, 0).ok());
  EXPECT_EQ(end_of(host), "0 2026-01-01T00:00:00Z");
  ASSERT_TRUE(host.merge("pods", "p", R"({"metadata":{"finalizers":null}})").ok());
  EXPECT_EQ(end_of(host), "gone");
}

// What hangs on a pod that has time left, and has to go before it, goes at once.
TEST(PodDeletion, InTheForegroundItWaitsForBoth) {
  HostFixture host;
  host.apply(pod_text(R"("nodeName":"n",)", "Running"));
  const std::string uid = at(host.get("pods", "default/p"), "/metadata/uid");
  host.apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","namespace":"default",
      "finalizers":["a/b"],"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":")" +
             uid + R"("}]}})");
  WriteRequest request = host.request(WriteVerb::kDelete, "pods", "p");
  request.deletion.propagation = Propagation::kForeground;
  ASSERT_TRUE(host.machine.write(request).ok());
  EXPECT_EQ(end_of(host), "30 2026-01-01T00:00:30Z");
  EXPECT_EQ(at(host.get("pods", "default/p"), "/metadata/finalizers"), R"(["foregroundDeletion"])");
  ASSERT_TRUE(host.merge("configmaps", "m", R"({"metadata":{"finalizers":null}})").ok());
  EXPECT_FALSE(host.exists("configmaps", "default/m"));
  EXPECT_EQ(at(host.get("pods", "default/p"), "/metadata/finalizers"), "(absent)");
}

}  // namespace
}  // namespace sluice::host::test
