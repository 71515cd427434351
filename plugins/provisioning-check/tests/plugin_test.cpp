// The plugin against a host that is not there: what it says of a workload that has its capacity
// while its configuration is gone, and what it looks for when an attempt is over.
#include <gtest/gtest.h>
#include <sluice/testing.hpp>

#include <string>

namespace provisioning {
namespace {

using sluice::Json;
using namespace sluice::testing;

constexpr const char* kCheckJson =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck",
  "metadata":{"name":"prov"},"spec":{"controllerName":"kueue.x-k8s.io/provisioning-request",
  "parameters":{"apiGroup":"kueue.x-k8s.io","kind":"ProvisioningRequestConfig","name":"cfg"}}})";

/// A workload that runs on what its request provided.
struct LivePlugin {
  FakeHost host;
  TestedPlugin plugin{host};
  FakeWorkload workload{"ns", "w"};
  FakeAttempt attempt{"prov", kCheckJson, 5, 0};

  LivePlugin() {
    host.objects().put(Json::parse(kCheckJson));
    workload.admitted("cq");
    put_config();
    put_workload("Pending");
    begin();
    put_workload("Ready");
    condition("Provisioned");
  }
  void put_config() {
    host.objects().put(Json::parse(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ProvisioningRequestConfig",
        "metadata":{"name":"cfg"},"spec":{"provisioningClassName":"c"}})"));
  }
  void put_workload(const std::string& state) {
    workload.check_states["prov"] = state;
    host.objects().put(Json::parse(workload.json()));
  }
  void begin() { plugin.begin_check(workload, attempt); }
  void condition(const std::string& type) {
    Json request = *host.objects().find("ProvisioningRequest", "ns", "w-prov-1");
    Json one = Json::object();
    one["type"] = type;
    one["status"] = "True";
    one["message"] = "said";
    request["status"]["conditions"].push_back(one);
    host.objects().put(std::move(request));
    plugin.reconcile({"autoscaling.x-k8s.io/v1", "ProvisioningRequest", "ns", "w-prov-1"});
  }
  std::string last() {
    const auto all = host.reports();
    return all.empty() ? "" : all.back().state + " " + all.back().message;
  }
};

TEST(WithoutItsConfiguration, WhatHasItsCapacityKeepsIt) {
  LivePlugin world;
  const std::size_t before = world.host.reports().size();
  world.host.objects().remove("ProvisioningRequestConfig", "", "cfg");
  world.condition("Accepted");  // the request is touched
  world.begin();                // and the host starts anew
  world.plugin.advance(std::chrono::seconds(60));
  EXPECT_EQ(world.host.reports().size(), before) << world.last();
}

TEST(WithoutItsConfiguration, CapacityThatIsTakenBackIsTold) {
  LivePlugin world;
  world.host.objects().remove("ProvisioningRequestConfig", "", "cfg");
  world.condition("CapacityRevoked");
  EXPECT_EQ(world.last(), "Rejected said");
}

TEST(WithoutItsConfiguration, CapacityThatWasTakenBackBeforeAStartIsTold) {
  LivePlugin world;
  world.host.objects().remove("ProvisioningRequestConfig", "", "cfg");
  Json request = *world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1");
  request["status"]["conditions"].push_back(
      Json::parse(R"({"type":"CapacityRevoked","status":"True","message":"needed elsewhere"})"));
  world.host.objects().put(std::move(request));
  world.begin();
  EXPECT_EQ(world.last(), "Rejected needed elsewhere");
}

TEST(WithoutItsConfiguration, WhatWaitsIsToldSo) {
  LivePlugin world;
  world.put_workload("Pending");
  world.host.objects().remove("ProvisioningRequestConfig", "", "cfg");
  world.condition("Accepted");
  EXPECT_EQ(world.last(), "Pending the check is not active");
}

TEST(WhenAnAttemptIsOver, ItsRequestIsRemovedWithoutLookingThroughAllOthers) {
  LivePlugin world;
  world.plugin.cancel_check(world.workload, world.attempt);
  EXPECT_EQ(world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1"), nullptr);
  EXPECT_EQ(world.host.objects().lists(), 0);
}

TEST(WhenAnAttemptIsOver, ItsRequestIsFoundByAPluginThatHasSeenNeither) {
  LivePlugin world;
  TestedPlugin anew(world.host);
  anew.cancel_check(world.workload, world.attempt);
  EXPECT_EQ(world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1"), nullptr);
  EXPECT_EQ(world.host.objects().lists(), 1);
}

TEST(WhenAnAttemptIsOver, TheRequestOfTheNextOneIsLeft) {
  LivePlugin world;
  FakeAttempt next = world.attempt;
  ++next.attempt;
  world.put_workload("Pending");
  world.plugin.begin_check(world.workload, next);  // its request has the name of the last one's
  world.plugin.cancel_check(world.workload, world.attempt);
  EXPECT_NE(world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1"), nullptr);
  world.plugin.cancel_check(world.workload, next);
  EXPECT_EQ(world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1"), nullptr);
}

}  // namespace
}  // namespace provisioning
