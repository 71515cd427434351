// A move needs a place that is better than the one held: what a workload got counts, not what its
// options might get, nor what they are called.
#include "world.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Duration kMinute = 60 * kSecond;

/// A queue with gpu on g-res and g-od, and cpu on cpu-a and cpu-b, 8 of each.
struct Gpu : ::testing::Test {
  RaceWorld world;
  void queue(const std::string& more) {
    world.flavors({"g-res", "g-od", "cpu-a", "cpu-b"});
    const auto flavor = [](const std::string& name, const std::string& resource) {
      return R"({"name":")" + name + R"(","resources":[{"name":")" + resource +
             R"(","nominalQuota":8}]})";
    };
    world.apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},
        "spec":{"namespaceSelector":{},"resourceGroups":[
          {"coveredResources":["gpu"],"flavors":[)" +
        flavor("g-res", "gpu") + "," + flavor("g-od", "gpu") +
        R"(]},{"coveredResources":["cpu"],"flavors":[)" + flavor("cpu-a", "cpu") + "," +
        flavor("cpu-b", "cpu") + "]}]," + more + "}}");
    world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{
      "namespace":"ns","name":"q"},"spec":{"clusterQueue":"q"}})");
  }
  /// The four pairs of flavors, the best first.
  static std::string pairs() {
    std::string out;
    for (const std::string gpu : {"g-res", "g-od"})
      for (const std::string cpu : {"cpu-a", "cpu-b"})
        out += std::string(out.empty() ? "" : ",") + R"({"name":")" + gpu + "-" + cpu +
               R"(","allowedResourceFlavors":[")" + gpu + R"(",")" + cpu + "\"]}";
    return policy("RemoveLower", R"(,"explicitOptions":[)" + out + "]");
  }
};

TEST_F(Gpu, B7_AJobWithoutGpusDoesNotMoveToTheSameFlavor) {
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{
    "name":"c"},"spec":{"controllerName":"example.com/c"}})");
  world.patch("AdmissionCheck", "c", R"({"status":{"conditions":[{"type":"Active","status":"True",
    "reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
              true);
  queue(policy("RemoveLower", R"(,"explicitOptions":[
          {"name":"res","allowedResourceFlavors":["g-res","cpu-a"]},
          {"name":"od","allowedResourceFlavors":["g-od","cpu-a"]}])") +
        R"(,"admissionChecksStrategy":{"admissionChecks":[{"name":"c"}]})");
  world.workload("w", "q", 2);
  world.rest();
  ASSERT_TRUE(world.answer("w-option-od", "c", "Ready"));
  world.rest();
  EXPECT_EQ(world.options("w"), "res=Deactivated od=Admitted");
  EXPECT_EQ(world.at("w", "/status/options/0/message"),
            "Deactivated due to offering no better flavor than the admitted option "
            "\"w-option-od\" has");
  EXPECT_FALSE(world.answer("w-option-res", "c", "Ready"));
  EXPECT_THAT(world.take_log(),
              ElementsAre("admitted w-option-od", "evicted w-option-res Deactivated"));
}

TEST_F(Gpu, B7_AJobWithoutGpusMovesToABetterFlavorOfItsCpus) {
  // Both options may use both cpu flavors; cpu-a is full at first.
  queue(policy("RemoveLower", R"(,"explicitOptions":[
          {"name":"res","allowedResourceFlavors":["g-res","cpu-a","cpu-b"]},
          {"name":"od","allowedResourceFlavors":["g-od","cpu-a","cpu-b"]}])"));
  world.workload("first", "q", 8, 0, only("cpu-a"));
  world.rest();
  world.workload("w", "q", 8);
  world.rest();
  EXPECT_EQ(world.at("w", "/status/admission/podSetAssignments/0/flavors/cpu"), "cpu-b");
  EXPECT_EQ(world.options("w"), "res=Admitted od=Pending");  // of another option, but better
  EXPECT_EQ(world.condition("w-option-od", "QuotaReserved", "message"),
            "It would get no better flavor than ns/w-option-res has");
  world.take_log();
  world.finish("first");
  world.rest();
  EXPECT_EQ(world.at("w", "/status/admission/podSetAssignments/0/flavors/cpu"), "cpu-a");
  EXPECT_EQ(world.options("w"), "res=Deactivated od=Admitted");
}

TEST_F(Gpu, TheFirstGroupCountsFirst) {
  queue(pairs());
  const auto both = [&](const std::string& name) {
    world.apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns",
      "name":")" +
        name +
        R"("},"spec":{"queueName":"q","podSets":[{"name":"main","count":1,"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{
      "gpu":"8","cpu":"8"}}}]}}}]}})");
  };
  both("first");  // on g-res and cpu-a
  both("w");
  world.rest();
  EXPECT_EQ(world.options("w"),
            "g-res-cpu-a=Pending g-res-cpu-b=Pending g-od-cpu-a=Pending g-od-cpu-b=Admitted");
  world.take_log();
  world.finish("first");
  world.rest();
  EXPECT_THAT(world.take_log(), ElementsAre("finished first", "finished first-option-g-res-cpu-a",
                                            "evicted w-option-g-od-cpu-b FlavorMigration",
                                            "admitted w-option-g-res-cpu-a"));
}

TEST(Moves, B7_AnOptionWhoseBestFlavorIsHeldAlreadyIsNoUpgrade) {
  // `r` comes after ten minutes and ranks first, by its place in the list; its one flavor is the
  // one that w got by the other option.
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower", R"(,"explicitOptions":[
    {"name":"r","allowedResourceFlavors":["a"],"createDelaySeconds":600},
    {"name":"both","allowedResourceFlavors":["a","b"]}])"));
  world.workload("w", "q", 4);
  world.rest();
  world.pass(20 * kMinute);
  EXPECT_EQ(world.options("w"), "r=Deactivated both=Admitted");
  EXPECT_THAT(world.take_log(), ElementsAre("admitted w-option-both"));
}

TEST(Moves, B6_NewNamesOfTheSameOptionsMoveNobody) {
  RaceWorld world;
  world.flavors({"a", "b", "c"});
  world.queue("q", {{"a", 4}, {"b", 4}, {"c", 4}}, policy("RemoveLower"));
  world.workload("x", "q", 4);
  world.workload("y", "q", 4);
  world.rest();
  world.take_log();
  EXPECT_EQ(world.patch("ClusterQueue", "q", R"({"spec":{"concurrentAdmission":{"explicitOptions":[
      {"name":"reserved","allowedResourceFlavors":["a"]},
      {"name":"fallback","allowedResourceFlavors":["b","c"],"createDelaySeconds":3600}]}}})"),
            "");
  world.rest();
  world.pass(2 * 60 * kMinute);
  EXPECT_THAT(world.take_log(), IsEmpty());
  EXPECT_EQ(world.options("x"), "reserved=Deactivated a=Admitted fallback=Deactivated");
  EXPECT_EQ(world.options("y"), "reserved=Pending fallback=Deactivated b=Admitted");
  world.finish("x");
  world.rest();
  EXPECT_EQ(world.options("y"), "reserved=Admitted fallback=Deactivated");
}

TEST(Moves, NoPlaceBelowTheTargetIsAMove) {
  // The option `two` reaches the target a, but only c is free: from b to c is a way down, from d to
  // c one that the policy does not want.
  RaceWorld world;
  world.flavors({"a", "b", "c", "d"});
  world.queue("q", {{"a", 4}, {"b", 0}, {"c", 4}, {"d", 4}},
              policy("RemoveBelowTarget",
                     R"(,"removeBelowTargetConfig":{"targetResourceFlavor":"a"},"explicitOptions":[
                       {"name":"two","allowedResourceFlavors":["a","c"],"createDelaySeconds":60},
                       {"name":"last","allowedResourceFlavors":["d"]}])"));
  world.workload("first", "q", 4, 0, only("a"));
  world.workload("w", "q", 4);
  world.rest();
  world.pass(10 * kMinute);
  EXPECT_EQ(world.options("w"), "two=Pending last=Admitted");
  EXPECT_THAT(world.condition("w-option-two", "QuotaReserved", "message"),
              HasSubstr("in flavor a, 4 more needed"));
  world.finish("first");
  world.rest();
  EXPECT_EQ(world.at("w", "/status/admission/podSetAssignments/0/flavors/cpu"), "a");
}

TEST(Moves, B11_FewerPodsAreNoUpgrade) {
  // 6 pods run on b; a has 4, and 2 pods would do.
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 6}}, policy("RemoveLower"));
  world.workload("first", "q", 4, 0, only("a"));
  world.rest();
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":
    "ns","name":"w"},"spec":{"queueName":"q","podSets":[{"name":"main","count":6,"minCount":2,
    "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{
    "requests":{"cpu":"1"}}}]}}}]}})");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Admitted");
  world.take_log();
  world.finish("first");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Admitted");
  EXPECT_EQ(world.condition("w-option-a", "QuotaReserved", "message"),
            "It would run fewer pods than ns/w-option-b does");
  EXPECT_THAT(world.take_log(), ElementsAre("finished first", "finished first-option-a"));
  // With room for all of them it is one.
  EXPECT_EQ(world.patch("ClusterQueue", "q",
                        R"({"spec":)" + RaceWorld::spec({{"a", 6}, {"b", 6}}, "") + "}"),
            "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated");
}

TEST(Moves, B10_APolicyTakenAwayAndGivenBackIsFollowedByWhatRuns) {
  RaceWorld world;
  world.flavors({"a", "b", "c"});
  world.queue("q", {{"a", 4}, {"b", 4}, {"c", 4}}, policy("RemoveLower"));
  world.workload("first", "q", 4);
  world.workload("second", "q", 4);
  world.workload("w", "q", 4);
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Pending c=Admitted");
  EXPECT_EQ(world.patch("ClusterQueue", "q", R"({"spec":{"concurrentAdmission":null}})"), "");
  world.rest();
  EXPECT_EQ(world.options("w"), "c=Admitted");
  world.finish("second");
  world.rest();
  world.take_log();
  EXPECT_EQ(world.patch("ClusterQueue", "q",
                        R"({"spec":{"concurrentAdmission":{"onSuccess":"RemoveLower"}}})"),
            "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Admitted c=Deactivated");
}

TEST(Moves, B12_NobodyIsAdmittedAfterItsOptionFinished) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("x", "q", 4);
  world.workload("y", "q", 4);
  world.rest();
  world.take_log();
  // Both end in one instant: what x had is free, but y is over.
  world.finish("x-option-a");
  world.finish("y-option-b");
  world.rest();
  EXPECT_THAT(world.take_log(), ElementsAre("finished x-option-a", "finished y-option-b",
                                            "finished x", "finished y"));
  EXPECT_EQ(world.options("y"), "a=Deactivated b=Finished");
}

TEST(Moves, B12_AParentThatEndedKeepsItsAdmission) {
  RaceWorld world;
  world.flavors({"a"});
  world.queue("q", {{"a", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 4);
  world.rest();
  world.finish("w-option-a");
  world.rest();
  EXPECT_EQ(world.state("w"), "finished");
  EXPECT_EQ(world.at("w", "/status/admission/podSetAssignments/0/flavors/cpu"), "a");
  EXPECT_EQ(world.condition("w", "QuotaReserved", "status"), "True");
}

TEST(Moves, B12_TheConditionsOfAnEvictedParentHaveTheTimeOfTheEviction) {
  RaceWorld world;
  world.flavors({"a"});
  world.queue("q", {{"a", 4}},
              policy("RemoveLower") + R"(,"preemption":{"withinClusterQueue":"LowerPriority"})");
  world.workload("w", "q", 4);
  world.rest();
  world.pass(10 * kMinute);
  world.workload("high", "q", 4, 100);
  world.rest();
  EXPECT_EQ(world.condition("w", "QuotaReserved", "status"), "False");
  EXPECT_EQ(world.condition("w", "QuotaReserved", "lastTransitionTime"), "2026-01-01T00:10:00Z");
}

// ---- the right to preempt

TEST(Moves, B8_TheRightToPreemptStaysWithAReservationThoughASiblingIsPreempted) {
  // w preempts on a and waits there for its check; it has also reserved c, which was free. When
  // another workload preempts it on c, it still may not preempt on b.
  RaceWorld world;
  world.flavors({"a", "b", "c"});
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{
    "name":"k"},"spec":{"controllerName":"example.com/k"}})");
  world.patch("AdmissionCheck", "k", R"({"status":{"conditions":[{"type":"Active","status":"True",
    "reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
              true);
  world.queue("q", {{"a", 4}, {"b", 4}, {"c", 4}},
              policy("RemoveLower") +
                  R"(,"preemption":{"withinClusterQueue":"LowerPriority"},
                  "admissionChecksStrategy":{"admissionChecks":[{"name":"k"}]})");
  for (const std::string flavor : {"a", "b"}) {
    world.workload("low-" + flavor, "q", 4, 0, only(flavor));
    world.rest();
    world.answer("low-" + flavor + "-option-" + flavor, "k", "Ready");
    world.rest();
  }
  world.workload("w", "q", 4, 10);
  world.rest();
  EXPECT_EQ(world.state("w-option-a"), "reserved");
  EXPECT_EQ(world.state("w-option-c"), "reserved");
  world.take_log();
  world.pass(5 * kMinute);
  world.workload("high", "q", 4, 100, only("c"));
  world.rest();
  EXPECT_THAT(world.take_log(), ElementsAre("evicted w-option-c Preempted"));
  EXPECT_EQ(world.state("w-option-a"), "reserved");
  EXPECT_EQ(world.state("low-b"), "admitted");
}

// ---- pods that are never ready

TEST(PodsReady, B9_OptionsShareTheLimitOfTheirParent) {
  // Two tries, as without options: the second one after the backoff of 60 s, on whichever is best.
  EngineConfig config;
  config.pods_ready_timeout = 5 * kMinute;
  config.requeue.backoff_limit = 1;
  config.requeue.backoff_base = kMinute;
  RaceWorld world(config);
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 4);
  world.rest();
  world.pass(5 * kMinute);
  EXPECT_EQ(world.options("w"), "a=Pending b=Pending");
  EXPECT_EQ(world.at("w", "/status/requeueState/count"), "1");
  EXPECT_EQ(world.condition("w-option-b", "QuotaReserved", "message"),
            "The workload waits for its requeue backoff");
  world.start();  // what was counted stays
  world.rest();
  world.pass(24 * 60 * kMinute);
  EXPECT_THAT(world.take_log(),
              ElementsAre("admitted w-option-a", "evicted w-option-a PodsReadyTimeout",
                          "admitted w-option-a",
                          "evicted w-option-a DeactivatedDueToRequeuingLimitExceeded"));
  EXPECT_EQ(world.at("w", "/spec/active"), "false");
  EXPECT_EQ(world.state("w"), "inactive");
  EXPECT_THAT(world.condition("w", "QuotaReserved", "message"),
              HasSubstr("exceeding the maximum number of re-queuing retries"));
  // Turned on again it has its tries again.
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"active":true}})"), "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated");
}

}  // namespace
}  // namespace sluice::host
