// World: the plugin in a host of tests, with two places and a job whose workload has its quota.
// What the plugin writes elsewhere waits until the test lets it leave. One thread.
#pragma once

#include <gtest/gtest.h>
#include <sluice/testing.hpp>

#include <string>
#include <vector>

namespace clusters {

using sluice::Json;
using sluice::ObjectRef;
using sluice::testing::FakeHost;
using sluice::testing::FakePlace;
using sluice::testing::FakeWorkload;
using sluice::testing::TestedPlugin;

inline constexpr const char* kVersion = "kueue.x-k8s.io/v1beta2";
inline constexpr const char* kCheck =
    R"({"spec":{"controllerName":"kueue.x-k8s.io/multikueue","parameters":
       {"apiGroup":"kueue.x-k8s.io","kind":"MultiKueueConfig","name":"all"}}})";

/// A manager of the clusters a and b, with one job whose workload has its quota.
class World {
 public:
  explicit World(const char* config = R"({"workerLostTimeoutSeconds":60})") : plugin(host, config) {
    host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueConfig",
      "metadata":{"name":"all"},"spec":{"clusters":["a","b"]}})");
    for (const char* name : {"a", "b"}) add_cluster(name);
    plugin.check_changed("clusters", kCheck);
    host.objects().put(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j",
      "namespace":"team","uid":"uid-j"},"spec":{"suspend":true,
      "managedBy":"kueue.x-k8s.io/multikueue","template":{"spec":{}}}})");
    put_workload("Pending");
  }

  void add_cluster(const std::string& name) {
    host.objects().put(R"({"kind":"Secret","apiVersion":"v1","metadata":{"namespace":"kueue-system",
      "name":")" + name +
                       R"("},"data":{"kubeconfig":"YWJj"}})");
    host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueCluster",
      "metadata":{"name":")" +
                       name + R"("},"spec":{"clusterSource":{"kubeConfig":{"location":")" + name +
                       R"("}}}})");
    plugin.reconcile({kVersion, "MultiKueueCluster", "", name});
  }

  void put_workload(const std::string& state, const std::string& more = {}) {
    host.objects().put(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
      "metadata":{"name":"w","namespace":"team","uid":"uid-w","ownerReferences":[{"apiVersion":
        "batch/v1","kind":"Job","name":"j","uid":"uid-j","controller":true}]},
      "spec":{"queueName":"q","podSets":[]},"status":{)" +
                       more + R"(
        "conditions":[{"type":"QuotaReserved","status":"True"}],
        "admissionChecks":[{"name":"clusters","state":")" +
                       state + R"("}]}})");
  }

  void begin(std::uint64_t attempt = 1) {
    FakeWorkload workload("team", "w");
    plugin.begin_check(workload, {.check = "clusters", .check_json = kCheck, .attempt = attempt});
  }
  void cancel(std::uint64_t attempt = 1) {
    FakeWorkload workload("team", "w");
    plugin.cancel_check(workload, {.check = "clusters", .attempt = attempt});
  }

  FakePlace& place(const std::string& name) { return host.remotes().place(name); }
  /// What waits leaves, and the plugin is told what became of it, until nothing waits.
  void settle() {
    while (!host.remotes().waiting().empty())
      for (const ObjectRef& ref : host.remotes().deliver()) plugin.reconcile(ref);
  }
  /// What was asked is answered, and the plugin is told; what it writes then waits.
  void answer() {
    for (const ObjectRef& ref : host.remotes().deliver()) plugin.reconcile(ref);
  }
  /// The copy at the place changes, and the plugin is told.
  void at(const std::string& name, const char* kind, const std::string& merge,
          const char* called = "w") {
    std::string out;
    place(name).objects.patch(kind, "team", called, "status", Json::parse(merge), out);
    plugin.reconcile(
        {kind == std::string("Job") ? "batch/v1" : kVersion, kind, "team", called, name});
  }
  void reserve(const std::string& name) {
    at(name, "Workload", R"({"status":{"conditions":[{"type":"QuotaReserved","status":"True"}]}})");
  }
  /// As the host does when the check was reported.
  void show_reported() {
    const std::string state = host.state_of("team/w", "clusters");
    const Json* now = host.objects().find("Workload", "team", "w");
    const std::string chosen = now->string_or("status.clusterName", "");
    put_workload(state, chosen.empty() ? "" : R"("clusterName":")" + chosen + R"(",)");
  }

  std::vector<std::string> there(const std::string& name) {
    std::vector<std::string> out;
    for (const char* kind : {"Job", "Workload"})
      for (const Json& each : place(name).objects.list(kind))
        out.push_back(std::string(kind) + " " + each.string_or("metadata.name", ""));
    return out;
  }
  Json workload() { return *host.objects().find("Workload", "team", "w"); }
  /// What it says of who refuses its job; empty: nothing.
  std::string refused() {
    const Json now = workload();
    for (const Json& each : now.find("status.conditions")->items())
      if (each.string_or("type", "") == "sluice.dev/RefusedByClusters")
        return each.string_or("message", "");
    return {};
  }
  Json condition(const std::string& cluster) {
    return host.objects()
        .find("MultiKueueCluster", "", cluster)
        ->find("status.conditions")
        ->items()[0];
  }

  FakeHost host;
  TestedPlugin plugin;
};

}  // namespace clusters
