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

/// A workload that waits for its capacity.
struct WaitingPlugin : LivePlugin {
  WaitingPlugin() {
    workload.condition("Admitted", "False");
    host.objects().remove("ProvisioningRequest", "ns", "w-prov-1");
    put_workload("Pending");
    begin();
  }
  void config(const std::string& name, const std::string& spec) {
    host.objects().put(Json::parse(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ProvisioningRequestConfig",
        "metadata":{"name":")" +
        name + R"("},"spec":)" + spec + "}"));
    plugin.reconcile({"kueue.x-k8s.io/v1beta2", "ProvisioningRequestConfig", "", name});
  }
  /// Class and parameters of the request; "none" where there is none.
  std::string asked() {
    const Json* request = host.objects().find("ProvisioningRequest", "ns", "w-prov-1");
    if (request == nullptr) return "none";
    const Json* parameters = request->find("spec.parameters");
    return request->string_or("spec.provisioningClassName", "") + " " +
           (parameters == nullptr ? "" : parameters->dump());
  }
};

TEST(AnotherConfiguration, IsThatOfWhatWaits) {
  WaitingPlugin world;
  ASSERT_EQ(world.asked(), "c ");
  world.config("cfg", R"({"provisioningClassName":"d","parameters":{"p":"1"}})");
  EXPECT_EQ(world.asked(), R"(d {"p":"1"})");
  const Json before = *world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1");
  world.config("cfg", R"({"provisioningClassName":"d","parameters":{"p":"1"}})");
  EXPECT_EQ(*world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1"), before);
  // The check names another one.
  world.config("other", R"({"provisioningClassName":"e"})");
  Json check = Json::parse(kCheckJson);
  check["spec"]["parameters"]["name"] = "other";
  world.host.objects().put(check);
  world.plugin.check_changed("prov", check.dump());
  EXPECT_EQ(world.asked(), "e ");
  check["spec"]["parameters"]["name"] = "missing";
  world.host.objects().put(check);
  world.plugin.check_changed("prov", check.dump());
  EXPECT_EQ(world.asked(), "none");
  EXPECT_EQ(world.last(), "Pending the check is not active");
  world.config("missing", R"({"provisioningClassName":"f"})");
  EXPECT_EQ(world.asked(), "f ");
}

TEST(AnotherConfiguration, MaySayThatNothingIsNeeded) {
  WaitingPlugin world;
  world.config("cfg", R"({"provisioningClassName":"d","managedResources":["example.com/gpu"]})");
  EXPECT_EQ(world.asked(), "none");
  EXPECT_EQ(world.last(), "Ready the provisioning request is not needed");
}

// A finalizer holds it: its name is free later.
TEST(AnotherConfiguration, WaitsUntilTheOldRequestIsGone) {
  WaitingPlugin world;
  Json held = *world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1");
  held["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  held["metadata"]["finalizers"].push_back("example.com/held");
  world.host.objects().put(held);
  world.config("cfg", R"({"provisioningClassName":"d"})");
  EXPECT_EQ(world.asked(), "c ");
  world.host.objects().remove("ProvisioningRequest", "ns", "w-prov-1");
  world.plugin.reconcile({"autoscaling.x-k8s.io/v1", "ProvisioningRequest", "ns", "w-prov-1"});
  EXPECT_EQ(world.asked(), "d ");
}

TEST(AnotherConfiguration, IsNotThatOfWhatHasItsCapacity) {
  LivePlugin world;
  const Json before = *world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1");
  world.host.objects().put(Json::parse(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ProvisioningRequestConfig",
      "metadata":{"name":"cfg"},"spec":{"provisioningClassName":"d"}})"));
  world.plugin.reconcile({"kueue.x-k8s.io/v1beta2", "ProvisioningRequestConfig", "", "cfg"});
  EXPECT_EQ(*world.host.objects().find("ProvisioningRequest", "ns", "w-prov-1"), before);
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
