// Every option and every parent that does not run says why, and what it says is true.
#include <boost/json/serialize.hpp>

#include "host/explain/document.hpp"
#include "world.hpp"

namespace sluice::host {
namespace {

using ::testing::HasSubstr;

TEST(Reasons, C6_AnOptionWithFlavorsOfTwoGroupsSaysWhatItLacks) {
  // Its cpu flavor fits and its gpu flavor does not: the walk goes on with neither, as its other
  // flavors are those of its siblings.
  RaceWorld world;
  world.flavors({"g-res", "g-od", "cpu-a", "cpu-b"});
  world.apply(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},
    "spec":{"namespaceSelector":{},"concurrentAdmission":{"onSuccess":"RemoveLower",
      "explicitOptions":[
      {"name":"res-a","allowedResourceFlavors":["g-res","cpu-a"]},
      {"name":"od-b","allowedResourceFlavors":["g-od","cpu-b"]}]},
    "resourceGroups":[
      {"coveredResources":["gpu"],"flavors":[
        {"name":"g-res","resources":[{"name":"gpu","nominalQuota":4}]},
        {"name":"g-od","resources":[{"name":"gpu","nominalQuota":4}]}]},
      {"coveredResources":["cpu"],"flavors":[
        {"name":"cpu-a","resources":[{"name":"cpu","nominalQuota":8}]},
        {"name":"cpu-b","resources":[{"name":"cpu","nominalQuota":8}]}]}]}})");
  world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{
    "namespace":"ns","name":"q"},"spec":{"clusterQueue":"q"}})");
  const auto job = [&](const std::string& name, const std::string& requests,
                       const std::string& more) {
    world.apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":
      "ns","name":")" +
                name + R"("},"spec":{"queueName":"q")" + more + R"(,"podSets":[{"name":"main",
      "count":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",
      "resources":{"requests":{)" +
                requests + "}}}]}}}]}}");
  };
  job("gpus", R"("gpu":"4")", only("g-res"));
  job("cpus", R"("cpu":"8")", only("cpu-a"));
  world.rest();
  job("w", R"("gpu":"4","cpu":"6")", "");
  world.rest();
  EXPECT_EQ(world.options("w"), "res-a=Pending od-b=Admitted");
  world.finish("cpus");  // the walk begins anew, and finds a flavor for its cpus
  world.rest();
  EXPECT_EQ(world.condition("w-option-res-a", "QuotaReserved", "reason"), "WaitingForQuota");
  EXPECT_EQ(world.condition("w-option-res-a", "QuotaReserved", "message"),
            "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor "
            "g-res, 4 more needed");
  EXPECT_EQ(world.at("w", "/status/options/0/message"),
            world.condition("w-option-res-a", "QuotaReserved", "message"));
}

/// Not that none of its options is admitted, which says nothing new.
TEST(Reasons, WhatWouldHelpAParentIsWhatItsOptionsLack) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 4}, {"b", 2}}, policy("RemoveLower"));
  world.workload("x", "q", 4, 0, only("a"));
  world.workload("w", "q", 4);
  world.rest();
  ASSERT_EQ(world.options("w"), "a=Pending b=Pending");
  const auto document =
      explanation_document(world.engine(), *world.engine().find("ns/w"), world.clock.time, {});
  const std::string help = boost::json::serialize(document.at("wouldHelp"));
  EXPECT_THAT(help,
              HasSubstr("w-option-a: couldn't assign flavors to pod set main: insufficient unused "
                        "quota for cpu in flavor a, 4 more needed"));
  EXPECT_THAT(help,
              HasSubstr("w-option-b: couldn't assign flavors to pod set main: insufficient quota "
                        "for cpu in flavor b"));
}

TEST(Reasons, C6_AnOptionThatIsOffSaysWhatStandsInItsWayNow) {
  RaceWorld world;
  world.flavors({"a", "b", "c"});
  world.queue("q", {{"a", 4}, {"b", 4}, {"c", 4}}, policy("RemoveLower"));
  world.workload("x", "q", 4, 0, only("a"));
  world.workload("w", "q", 4);
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Pending b=Admitted c=Deactivated");
  const std::string because = "Deactivated due to offering no better flavor than the admitted ";
  EXPECT_EQ(world.at("w", "/status/options/2/message"), because + "option \"w-option-b\" has");
  EXPECT_EQ(world.condition("w-option-c", "QuotaReserved", "message"),
            because + "option \"w-option-b\" has");
  world.finish("x");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Admitted b=Deactivated c=Deactivated");
  EXPECT_EQ(world.at("w", "/status/options/2/message"), because + "option \"w-option-a\" has");
  EXPECT_EQ(world.condition("w-option-c", "QuotaReserved", "message"),
            because + "option \"w-option-a\" has");
}

TEST(Reasons, C6_AnOptionThatComesLaterSaysWhen) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 1}, {"b", 4}}, policy("RemoveLower", R"(,"explicitOptions":[
    {"name":"x","allowedResourceFlavors":["a"]},
    {"name":"y","allowedResourceFlavors":["b"],"createDelaySeconds":7200}])"));
  world.workload("w", "q", 4);
  world.rest();
  const std::string because =
      "Deactivated due to its createDelaySeconds, which end at 2026-01-01T02:00:00Z";
  EXPECT_EQ(world.at("w", "/status/options/1/message"), because);
  EXPECT_EQ(world.condition("w-option-y", "QuotaReserved", "message"), because);
}

TEST(Reasons, C6_AParentWithoutAnOptionSaysWhatWouldHelp) {
  RaceWorld world;
  world.flavors({"a", "b", "x"});
  world.queue("q", {{"a", 4}, {"b", 4}}, policy("RemoveLower"));
  world.workload("w", "q", 4, 0, only("x"));
  world.rest();
  EXPECT_EQ(world.options("w"), "(none)");
  EXPECT_EQ(world.condition("w", "QuotaReserved", "message"),
            "It may use only the flavors x (spec.admissionConstraints.allowedResourceFlavors), and "
            "no option of its ClusterQueue has one of them: allow one of a, b, or use another "
            "queue");
}

TEST(Reasons, C6_ATurnedOnParentIsNotCalledDeactivated) {
  RaceWorld world;
  world.flavors({"a"});
  world.queue("q", {{"a", 4}}, policy("RemoveLower"));
  world.workload("first", "q", 4);
  world.workload("w", "q", 4);
  world.rest();
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"active":false}})"), "");
  world.rest();
  EXPECT_EQ(world.condition("w", "QuotaReserved", "reason"), "Deactivated");
  EXPECT_EQ(world.condition("w-option-a", "QuotaReserved", "message"),
            "Deactivated due to the parent Workload being inactive");
  EXPECT_EQ(world.patch("Workload", "ns/w", R"({"spec":{"active":true}})"), "");
  world.rest();
  EXPECT_EQ(world.condition("w", "QuotaReserved", "reason"), "Pending");
  EXPECT_THAT(world.condition("w", "QuotaReserved", "message"), HasSubstr("w-option-a (Pending)"));
  EXPECT_EQ(world.condition("w-option-a", "QuotaReserved", "reason"), "WaitingForQuota");
}

TEST(Reasons, C6_AnOptionTurnedOffByHandSaysSo) {
  RaceWorld world;
  world.flavors({"a", "b"});
  world.queue("q", {{"a", 1}, {"b", 1}}, policy("RemoveLower"));
  world.workload("w", "q", 4);
  world.rest();
  EXPECT_EQ(world.patch("Workload", "ns/w-option-a", R"({"spec":{"active":false}})"), "");
  world.rest();
  EXPECT_EQ(world.options("w"), "a=Deactivated b=Pending");
  EXPECT_EQ(world.at("w", "/status/options/0/message"), "Its spec.active was set to false");
}

}  // namespace
}  // namespace sluice::host
