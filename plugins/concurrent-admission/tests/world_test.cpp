// The plugin in a host: what it makes of workloads, in which commits, and what the engine does with
// them.
#include "world.hpp"
#include "core/engine/queue_views.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Duration kHour = 3600 * kSecond;

// ---- parents and options

TEST(Family, OptionsAreMadeInOneCommitBeforeAnyCycleSeesTheWorkload) {
  RaceWorld world;
  world.flavors({"a", "b", "c"});
  world.queue("q", {{"a", 4}, {"b", 4}, {"c", 4}}, policy("RemoveLower"));
  world.rest();
  std::vector<std::size_t> counts;
  world.committed = [&] { counts.push_back(world.store->count(world.kind("Workload"))); };
  world.workload("w", "q", 2);
  world.rest();
  // Alone, and then with all of them: never with some.
  for (const std::size_t count : counts) EXPECT_TRUE(count == 1 || count == 4) << count;
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated c=Deactivated");
  EXPECT_EQ(world.at("w-option-a", "/spec/admissionConstraints/allowedResourceFlavors"),
            R"(["a"])");
  EXPECT_EQ(world.at("w-option-a", "/metadata/ownerReferences/0/kind"), "Workload");
  EXPECT_EQ(world.at("w", "/metadata/annotations/kueue.x-k8s.io~1parent-option"), "true");
  EXPECT_THAT(world.take_log(), ElementsAre("admitted w-option-a"));
}

// Annotations just below their limit leave no room for the marks of a parent. That is up to who
// wrote them: the plugin goes on for all others.
TEST(Family, AParentThatIsRefusedKeepsNoOtherWaiting) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 9}, {"b", 9}}, policy("RemoveLower"));
  world.rest();
  const std::string note(262'100, 'x');  // with its name 262,124 bytes of at most 262,144
  for (int i = 0; i < 6; ++i)
    world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{
          "namespace":"ns","name":"full-)" +
                std::to_string(i) + R"(","annotations":{"provreq.kueue.x-k8s.io/a":")" + note +
                R"("}},"spec":{"queueName":"q","podSets":[{"name":"main","count":1,"template":{
          "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{
          "requests":{"cpu":1}}}]}}}]}})");
  world.rest();
  EXPECT_EQ(world.options("full-0"), "(none)");
  EXPECT_FALSE(world.running->plugins->plugins().status()[0].quarantined);
  world.workload("w", "q", 2);
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated");
}

TEST(Family, TheParentHasTheAdmissionOfItsOption) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 1}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 2);
  world.rest();
  EXPECT_EQ(world.state("w"), "admitted");
  EXPECT_EQ(world.at("w", "/status/admission/podSetAssignments/0/flavors/cpu"), "b");
  EXPECT_EQ(world.condition("w", "Admitted", "message"), "The option w-option-b is admitted");
  const auto queue = queue_view(world.engine().model(), "q");
  EXPECT_EQ(queue->counts.admitted, 1U);
  EXPECT_EQ(queue->counts.pending, 0U);  // it waits for a, but it runs
}

TEST(Family, AdmissionAndParentAreOneCommit) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveOther"));
  world.committed = [&] {
    if (!world.exists("w-option-a")) return;
    EXPECT_EQ(world.state("w") == "admitted", world.state("w-option-a") == "admitted");
  };
  world.workload("w", "q", 2);
  world.rest();
  EXPECT_EQ(world.state("w"), "admitted");
}

TEST(Family, AQueueWithoutPolicyIsAsItWas) {
  RaceWorld world;
  world.flavors({"a"});
  world.queue("q", {{"a", 4}}, "");
  world.workload("w", "q", 2);
  world.rest();
  EXPECT_EQ(world.options("w"), "(none)");
  EXPECT_EQ(world.at("w", "/metadata/annotations"), "(absent)");
  EXPECT_EQ(world.state("w"), "admitted");
}

TEST(Family, AllowedFlavorsWorkWithoutAPolicy) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, "");
  world.workload("w", "q", 2, 0, R"(,"admissionConstraints":{"allowedResourceFlavors":["b"]})");
  world.workload("x", "q", 2, 0, R"(,"admissionConstraints":{"allowedResourceFlavors":["c"]})");
  world.rest();
  EXPECT_EQ(world.at("w", "/status/admission/podSetAssignments/0/flavors/cpu"), "b");
  EXPECT_THAT(world.condition("x", "QuotaReserved", "message"),
              HasSubstr("flavor a is not among the workload's allowedResourceFlavors"));
}

TEST(Family, ItsEndIsTheEndOfItsOptions) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 2);
  world.rest();
  world.finish("w");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Finished b=Deactivated");
  EXPECT_EQ(world.state("w-option-a"), "finished");
  EXPECT_EQ(queue_view(world.engine().model(), "q")->counts.reserving, 0U);
  world.remove("Workload", "ns/w");
  world.rest();
  EXPECT_FALSE(world.exists("w-option-a"));
  EXPECT_FALSE(world.exists("w-option-b"));
}

TEST(Family, AnOptionThatEndsEndsTheParent) {
  RaceWorld world;
  world.flavors({"a"});
  world.queue("q", {{"a", 4}}, policy("RemoveOther"));
  world.workload("w", "q", 2);
  world.rest();
  world.finish("w-option-a");
  world.rest();
  EXPECT_EQ(world.state("w"), "finished");
  EXPECT_EQ(world.options("w"), "a=Finished");
}

TEST(Family, DeletingTheParentFreesItsQuota) {
  RaceWorld world;
  world.flavors({"a"});
  world.queue("q", {{"a", 4}}, policy("RemoveOther"));
  world.workload("w", "q", 4);
  world.workload("next", "q", 4);
  world.rest();
  EXPECT_EQ(world.state("next"), "pending");
  world.remove("Workload", "ns/w");
  world.rest();
  EXPECT_EQ(world.state("next"), "admitted");
}

/// An option is nothing without its parent, whatever else is asked for: it is no parent itself, and
/// holds nothing.
TEST(Family, OrphanedOptionsAreRemoved) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveOther"));
  world.workload("w", "q", 4);
  world.rest();
  ASSERT_EQ(world.state("w"), "admitted");
  world.remove("Workload", "ns/w", Propagation::kOrphan);
  world.rest();
  EXPECT_FALSE(world.exists("w-option-a"));
  EXPECT_FALSE(world.exists("w-option-b"));
  EXPECT_FALSE(world.exists("w-option-a-option-a"));
  world.workload("next", "q", 4);
  world.workload("last", "q", 4);
  world.rest();
  EXPECT_EQ(world.state("next") + " " + world.state("last"), "admitted admitted");
}

/// Its parent makes another one in its place.
TEST(Family, AnOptionThatWasTakenFromItsParentIsRemoved) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("first", "q", 4);
  world.workload("w", "q", 4);
  world.rest();
  ASSERT_EQ(world.options("w"), "a=Pending b=Admitted");
  EXPECT_EQ(world.patch("Workload", "ns/w-option-a", R"({"metadata":{"ownerReferences":null}})"),
            "");
  world.rest();
  EXPECT_FALSE(world.exists("w-option-a-option-a"));
  world.finish("first");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated");
}

TEST(Family, PriorityActiveAndPodsReadyPassOn) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 2);
  world.rest();
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"priority":9}})"), "");
  world.rest();
  EXPECT_EQ(world.at("w-option-a", "/spec/priority"), "9");
  EXPECT_EQ(world.patch("Workload", "ns/w",
                        R"({"status":{"reclaimablePods":[{"name":"main","count":1}]}})", true),
            "");
  world.rest();
  EXPECT_EQ(world.at("w-option-a", "/status/reclaimablePods/0/count"), "1");
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"active":false}})"), "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Deactivated b=Deactivated");
  EXPECT_EQ(world.condition("w", "Evicted", "reason"), "Deactivated");
  EXPECT_EQ(world.state("w"), "inactive");
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"active":true}})"), "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated");
}

// ---- migration

TEST(Migration, IsOneStepAndUsesWhatTheLoserHeld) {
  RaceWorld world;
  world.flavors({"a", "b", "shared"});
  world.apply(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},
    "spec":{"namespaceSelector":{},"concurrentAdmission":{"onSuccess":"RemoveLower",
      "explicitOptions":[
      {"name":"best","allowedResourceFlavors":["a","shared"]},
      {"name":"rest","allowedResourceFlavors":["b","shared"]}]},
    "resourceGroups":[
      {"coveredResources":["gpu"],"flavors":[
        {"name":"a","resources":[{"name":"gpu","nominalQuota":4}]},
        {"name":"b","resources":[{"name":"gpu","nominalQuota":4}]}]},
      {"coveredResources":["cpu"],"flavors":[
        {"name":"shared","resources":[{"name":"cpu","nominalQuota":10}]}]}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{
    "namespace":"ns","name":"q"},"spec":{"clusterQueue":"q"}})");
  const auto both = [&](const std::string& name, const std::string& more) {
    world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":
      "ns","name":")" +
                name + R"("},"spec":{"queueName":"q",)" + more + R"("podSets":[{"name":"main",
      "count":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",
      "resources":{"requests":{"gpu":"4"}}}]}}},{"name":"driver","count":1,"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{
      "cpu":"8"}}}]}}}]}})");
  };
  world.apply(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns",
    "name":"first"},"spec":{"queueName":"q","podSets":[{"name":"main","count":1,"template":{"spec":{
    "restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{
    "gpu":"4"}}}]}}}]}})");
  world.rest();
  both("w", "");
  world.rest();
  EXPECT_EQ(world.options("w"), "best=Pending rest=Admitted");
  world.take_log();
  world.committed = [&] {
    const bool best = world.state("w-option-best") == "admitted";
    const bool rest = world.state("w-option-rest") == "admitted";
    EXPECT_NE(best, rest);
    EXPECT_EQ(world.at("w", "/status/admission/podSetAssignments/0/flavors/gpu"), best ? "a" : "b");
  };
  world.finish("first");
  world.rest();
  EXPECT_THAT(world.take_log(),
              ElementsAre("finished first", "finished first-option-best",
                          "evicted w-option-rest FlavorMigration", "admitted w-option-best"));
  EXPECT_EQ(world.options("w"), "best=Admitted rest=Deactivated");
  EXPECT_EQ(world.at("w", "/status/schedulingStats/evictions/0/reason"), "FlavorMigration");
}

TEST(Migration, NeverGoesDown) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 2);
  world.rest();
  world.pass(24 * kHour);
  EXPECT_THAT(world.take_log(), ElementsAre("admitted w-option-a"));
}

// ---- checks

struct Checked : ::testing::Test {
  RaceWorld world;
  void queue_with(const std::string& text) {
    world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{
      "name":"c"},"spec":{"controllerName":"example.com/c"}})");
    world.patch("AdmissionCheck", "c", R"({"status":{"conditions":[{"type":"Active","status":"True",
      "reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
                true);
    world.flavors({"a", "b", "c"});
    world.queue("q", {{"a", 4}, {"b", 4}, {"c", 4}},
                text + R"(,"admissionChecksStrategy":{"admissionChecks":[{"name":"c"}]})");
    world.workload("w", "q", 4);
    world.rest();
  }
};

TEST_F(Checked, AllRunAtOnceAndTheFirstCompleteOneWins) {
  queue_with(policy("RemoveOther"));
  for (const std::string name : {"a", "b", "c"})
    EXPECT_EQ(world.state("w-option-" + name), "reserved");
  EXPECT_EQ(queue_view(world.engine().model(), "q")->counts.reserving, 1U);
  ASSERT_TRUE(world.answer("w-option-b", "c", "Ready"));
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Deactivated b=Admitted c=Deactivated");
  EXPECT_FALSE(world.answer("w-option-a", "c", "Ready"));  // not asked any more
}

TEST_F(Checked, OfTwoReadyInOneInstantTheBetterWins) {
  queue_with(policy("RemoveLower"));
  ASSERT_TRUE(world.answer("w-option-c", "c", "Ready"));
  ASSERT_TRUE(world.answer("w-option-b", "c", "Ready"));
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Admitted c=Deactivated");
  EXPECT_THAT(world.take_log(), ElementsAre("admitted w-option-b"));
}

TEST_F(Checked, ABetterOneThatIsReadyLaterTakesOver) {
  queue_with(policy("RemoveLower"));
  ASSERT_TRUE(world.answer("w-option-c", "c", "Ready"));
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Pending c=Admitted");
  ASSERT_TRUE(world.answer("w-option-a", "c", "Ready"));
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated c=Deactivated");
}

TEST_F(Checked, RetryActsOnThatOptionAlone) {
  queue_with(policy("RemoveLower"));
  ASSERT_TRUE(world.answer("w-option-a", "c", "Retry", 60));
  world.rest();
  EXPECT_EQ(world.state("w-option-a"), "pending");
  EXPECT_EQ(world.state("w-option-b"), "reserved");
  world.pass(61 * kSecond);
  EXPECT_EQ(world.state("w-option-a"), "reserved");
}

TEST_F(Checked, ARejectionStaysUntilAllAreRejected) {
  queue_with(policy("RemoveLower"));
  ASSERT_TRUE(world.answer("w-option-a", "c", "Rejected"));
  ASSERT_TRUE(world.answer("w-option-b", "c", "Rejected"));
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Deactivated b=Deactivated c=Pending");
  EXPECT_EQ(world.at("w", "/spec/active"), "true");
  ASSERT_TRUE(world.answer("w-option-c", "c", "Rejected"));
  world.rest();
  EXPECT_EQ(world.at("w", "/spec/active"), "false");
  EXPECT_THAT(world.condition("w", "QuotaReserved", "message"),
              HasSubstr("All options were rejected"));
  // A user turns it on again: all options begin anew.
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"active":true}})"), "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Pending c=Pending");
  EXPECT_EQ(world.state("w-option-a"), "reserved");
}

// ---- preemption

TEST(Preemption, ByOthersBeginsTheRaceAnew) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}},
              policy("RemoveOther", R"(,"explicitOptions":[
                {"name":"x","allowedResourceFlavors":["a"]},
                {"name":"y","allowedResourceFlavors":["b"],"createDelaySeconds":3600}])") +
                  R"(,"preemption":{"withinClusterQueue":"LowerPriority"})");
  world.workload("w", "q", 4);
  world.rest();
  EXPECT_EQ(world.options("w"), "x=Admitted y=Deactivated");
  world.pass(2 * kHour);
  world.workload("high", "q", 4, 100,
                 R"(,"admissionConstraints":{"allowedResourceFlavors":["a"]})");
  world.rest();
  EXPECT_EQ(world.options("high"), "x=Admitted");
  EXPECT_EQ(world.condition("w", "Evicted", "reason"), "Preempted");
  // Its hour begins again.
  EXPECT_EQ(world.options("w"), "x=Pending y=Deactivated");
  world.pass(kHour - kSecond);
  EXPECT_EQ(world.options("w"), "x=Pending y=Deactivated");
  world.pass(kSecond);
  EXPECT_EQ(world.options("w"), "x=Deactivated y=Admitted");
}

TEST(Preemption, TheRightToPreemptIsOneOptionsAtATime) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{
    "name":"c"},"spec":{"controllerName":"example.com/c"}})");
  world.patch("AdmissionCheck", "c", R"({"status":{"conditions":[{"type":"Active","status":"True",
    "reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
              true);
  world.queue("q", {{"a", 4}, {"b", 4}},
              policy("RemoveLower") +
                  R"(,"preemption":{"withinClusterQueue":"LowerPriority"},
                  "admissionChecksStrategy":{"admissionChecks":[{"name":"c"}]})");
  world.workload("low-a", "q", 4, 0, R"(,"admissionConstraints":{"allowedResourceFlavors":["a"]})");
  world.workload("low-b", "q", 4, 0, R"(,"admissionConstraints":{"allowedResourceFlavors":["b"]})");
  world.rest();
  world.answer("low-a-option-a", "c", "Ready");
  world.answer("low-b-option-b", "c", "Ready");
  world.rest();
  world.workload("w", "q", 4, 100);
  world.rest();
  // a preempts; b may not, though it could.
  EXPECT_EQ(world.state("w-option-a"), "reserved");
  EXPECT_EQ(world.state("w-option-b"), "pending");
  EXPECT_EQ(world.state("low-b"), "admitted");
  EXPECT_THAT(world.condition("w-option-b", "QuotaReserved", "message"),
              HasSubstr("The option w-option-a of the same workload preempts already"));
  // The same after a restart.
  world.start();
  world.rest();
  EXPECT_EQ(world.state("low-b"), "admitted");
  // a is sent back: the right passes on.
  world.answer("w-option-a", "c", "Retry", 600);
  world.rest();
  EXPECT_EQ(world.state("w-option-b"), "reserved");
  EXPECT_EQ(world.state("low-b"), "pending");
}

// ---- the policy changes

TEST(PolicyChange, PendingWorkloadsBecomeParentsAndAdmittedOnesStay) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 1}}, "");
  world.workload("runs", "q", 4);
  world.workload("waits", "q", 4);
  world.rest();
  EXPECT_EQ(world.state("runs"), "admitted");
  EXPECT_EQ(world.patch("ClusterQueue", "q",
                        R"({"spec":{"concurrentAdmission":{"onSuccess":"RemoveLower"}}})"),
            "");
  world.rest();
  EXPECT_EQ(world.options("waits"), "a=Pending b=Pending");
  EXPECT_EQ(world.options("runs"), "(none)");
  EXPECT_EQ(world.state("runs"), "admitted");
  // Until it is evicted.
  EXPECT_EQ(world.patch("ClusterQueue", "q", R"({"spec":{"stopPolicy":"HoldAndDrain"}})"), "");
  world.rest();
  EXPECT_EQ(world.options("runs"), "a=Pending b=Pending");
  EXPECT_EQ(world.patch("ClusterQueue", "q", R"({"spec":{"stopPolicy":"None"}})"), "");
  world.rest();
  EXPECT_EQ(world.options("runs"), "a=Admitted b=Deactivated");
}

TEST(PolicyChange, WithoutThePolicyASingleWorkloadIsLeft) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 1}}, policy("RemoveLower"));
  world.workload("runs", "q", 4);
  world.workload("waits", "q", 4);
  world.rest();
  EXPECT_EQ(world.patch("ClusterQueue", "q", R"({"spec":{"concurrentAdmission":null}})"), "");
  world.rest();
  EXPECT_EQ(world.options("waits"), "(none)");
  EXPECT_FALSE(world.exists("waits-option-a"));
  EXPECT_EQ(world.at("waits", "/metadata/annotations"), "(absent)");
  // The option that runs goes on, alone.
  EXPECT_EQ(world.options("runs"), "a=Admitted");
  world.finish("runs");
  world.rest();
  EXPECT_EQ(world.state("waits"), "admitted");
}

/// A parent that lost its policy runs on with its option, and ends with it.
TEST(PolicyChange, WithoutThePolicyAParentThatIsTurnedOffHoldsNothing) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 4);
  world.rest();
  EXPECT_EQ(world.patch("ClusterQueue", "q", R"({"spec":{"concurrentAdmission":null}})"), "");
  world.rest();
  ASSERT_EQ(world.state("w"), "admitted");
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"active":false}})"), "");
  world.rest();
  EXPECT_EQ(world.state("w"), "inactive");
  const std::string status = world.at("w", "/status/conditions");
  EXPECT_THAT(status, ::testing::HasSubstr(R"("reason":"NoReservation")")) << status;
  EXPECT_FALSE(world.exists("w-option-a"));
}

TEST(PolicyChange, FlavorsComeAndGo) {
  RaceWorld world;
  world.flavors({"a", "b", "c"});
  world.queue("q", {{"a", 1}, {"b", 4}}, policy("RemoveLower"));
  world.workload("runs", "q", 4);
  world.workload("waits", "q", 4);
  world.rest();
  EXPECT_EQ(world.options("runs"), "a=Pending b=Admitted");
  EXPECT_EQ(world.patch("ClusterQueue", "q",
                        R"({"spec":)" + RaceWorld::spec({{"a", 1}, {"c", 4}}, "") + "}"),
            "");
  world.rest();
  // b is no flavor of the queue any more: the workload that ran there moved to c.
  EXPECT_EQ(world.options("waits"), "a=Pending c=Pending");
  EXPECT_EQ(world.options("runs"), "a=Pending c=Admitted");
}

TEST(PolicyChange, InTheMiddleOfARaceItHoldsAtOnce) {
  RaceWorld world;
  world.flavors({"a", "b", "c"});
  world.queue("q", {{"a", 1}, {"b", 4}, {"c", 4}}, policy("RemoveOther"));
  world.workload("w", "q", 4);
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Deactivated b=Admitted c=Deactivated");
  EXPECT_EQ(world.patch("ClusterQueue", "q",
                        R"({"spec":{"concurrentAdmission":{"onSuccess":"RemoveLower"}}})"),
            "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Admitted c=Deactivated");
}

// ---- restarts

TEST(Restart, ChangesNothing) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 3);
  world.workload("x", "q", 3);
  world.workload("y", "q", 3);
  world.rest();
  const std::string before = world.options("w") + world.options("x") + world.options("y");
  const std::string parent = boost::json::serialize(world.get("x"));
  world.take_log();
  world.start();
  world.rest();
  EXPECT_EQ(world.options("w") + world.options("x") + world.options("y"), before);
  EXPECT_EQ(boost::json::serialize(world.get("x")), parent);
  EXPECT_THAT(world.take_log(), IsEmpty());
}

TEST(Restart, DelaysRunOn) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 1}, {"b", 4}}, policy("RemoveLower", R"(,"explicitOptions":[
                {"name":"x","allowedResourceFlavors":["a"]},
                {"name":"y","allowedResourceFlavors":["b"],"createDelaySeconds":7200}])"));
  world.workload("w", "q", 4);
  world.rest();
  world.pass(kHour);
  world.start();
  world.rest();
  EXPECT_EQ(world.options("w"), "x=Pending y=Deactivated");
  world.pass(kHour);
  EXPECT_EQ(world.options("w"), "x=Pending y=Admitted");
}

TEST(Restart, AWorkloadThatWasNotYetMarkedIsNoLessAParent) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 2);  // stored, and the host is killed before anything else
  world.start();
  world.rest();
  EXPECT_THAT(world.take_log(), ElementsAre("admitted w-option-a"));
}

// ---- what it does not do

TEST(Refused, AWorkloadThatChangesItsSizeSaysWhyItWaits) {
  RaceWorld world(EngineConfig(), true);
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.apply(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns",
    "name":"w","annotations":{"kueue.x-k8s.io/elastic-job":"true"}},"spec":{"queueName":"q",
    "podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never","containers":[
    {"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  world.rest();
  EXPECT_THAT(world.condition("w", "QuotaReserved", "message"), HasSubstr("use another queue"));
  EXPECT_EQ(world.options("w"), "(none)");
}

}  // namespace
}  // namespace sluice::host
