// The plugin with a host that is not there, in a namespace `ns`: pods as that host stores them, and
// what becomes of their workloads.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sluice/testing.hpp>

#include <memory>
#include <string>
#include <vector>

#include "../facts.hpp"
#include "../names.hpp"

namespace pods {

using sluice::Json;
using sluice::ObjectRef;

/// What the plugin knows stands in the objects of `host`: restart() loses nothing.
struct World {
  sluice::testing::FakeHost host;
  std::unique_ptr<sluice::testing::TestedPlugin> plugin;

  /// `config`: of the plugin, as JSON.
  explicit World(const std::string& config = "{}") : config_(config) { restart(); }
  void restart() {
    plugin.reset();
    plugin = std::make_unique<sluice::testing::TestedPlugin>(host, config_);
  }

  static ObjectRef pod(const std::string& name) { return {"v1", "Pod", "ns", name}; }
  static ObjectRef workload(const std::string& name) {
    return {std::string(kKueue), "Workload", "ns", name};
  }

  /// As the host stores it, with what the plugin makes of it.
  void create(const std::string& name, const std::string& group = "", int total = 0,
              const std::string& labels = "") {
    Json object = Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                              R"(","namespace":"ns","labels":{"kueue.x-k8s.io/queue-name":"q")" +
                              labels + R"(}},"spec":{"containers":[{"name":"c",
                              "resources":{"requests":{"cpu":"1"}}}]}})");
    if (!group.empty()) {
      object["metadata"]["labels"][kGroup] = group;
      object["metadata"]["annotations"][kTotal] = std::to_string(total);
    }
    const auto held =
        plugin->set_defaults({sluice::Operation::kCreate, "v1", "Pod", object.dump(), ""});
    host.objects().put(Json::parse(held.value()));
    plugin->reconcile(pod(name));
  }
  void set_status(const ObjectRef& ref, const std::string& status) {
    Json object = *host.objects().find(ref.kind, ref.ns, ref.name);
    object["status"] = Json::parse(status);
    host.objects().put(object);
    plugin->reconcile(ref);
  }
  void admit(const std::string& name, const std::string& pod_set, const std::string& more = "") {
    set_status(workload(name),
               R"({"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved"},
               {"type":"Admitted","status":"True","reason":"Admitted"}],
               "admission":{"clusterQueue":"cq","podSetAssignments":[{"name":")" +
                   pod_set + R"(","flavors":{"cpu":"f"}}]})" + more + "}");
  }
  /// As the host does it where it ends later: admitted still, and Evicted. Those of its pods that
  /// are deleted then, and run, have some time to end.
  void evict(const std::string& name, const std::vector<std::string>& running) {
    Json object = *found(workload(name));
    object["status"]["conditions"].push_back(Json::parse(
        R"({"type":"Evicted","status":"True","reason":"Preempted","message":"for b"})"));
    object["status"]["schedulingStats"] = Json::parse(R"({"evictions":[{"count":1}]})");
    host.objects().put(object);
    std::vector<Json> pods;
    for (const std::string& each : running) pods.push_back(*found(pod(each)));
    plugin->reconcile(workload(name));
    host.objects().put(object);
    for (Json& each : pods) {
      EXPECT_EQ(found(pod(each.string_or("metadata.name", ""))), nullptr) << "it is deleted";
      each["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      each["metadata"]["deletionGracePeriodSeconds"] = 30;
      host.objects().put(each);
    }
    for (const std::string& each : running) plugin->reconcile(pod(each));
  }
  std::string role_of(const std::string& name) {
    return found(workload(name))->find("spec.podSets")->items()[0].string_or("name", "");
  }
  /// A node has it, and it runs there.
  void bind(const std::string& name) {
    Json object = *found(pod(name));
    object["spec"]["nodeName"] = "n";
    object["status"] = Json::parse(R"({"phase":"Running","containerStatuses":[
      {"name":"c","state":{"running":{}}}]})");
    host.objects().put(object);
    plugin->reconcile(pod(name));
  }
  /// Its node has let go of it. What it owned is there still.
  void goes(const std::string& name, const std::string& of) {
    const Json kept = *found(workload(of));
    host.objects().remove("Pod", "ns", name);
    host.objects().put(kept);
    plugin->reconcile(pod(name));
  }
  const Json* found(const ObjectRef& ref) {
    return host.objects().find(ref.kind, ref.ns, ref.name);
  }
  Pod facts(const std::string& name) { return pod_of(*found(pod(name))); }
  std::vector<std::string> events_of(const std::string& name) {
    std::vector<std::string> out;
    for (const sluice::testing::RecordedEvent& event : host.events())
      if (event.name == name) out.push_back(event.reason);
    return out;
  }

 private:
  std::string config_;
};

}  // namespace pods
