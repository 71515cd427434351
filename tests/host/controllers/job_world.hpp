// JobWorld: the live host below the API server, with the job controllers, a queue for jobs of a few
// CPUs, and short ways to say what happens and to ask what became of it.
//
// One thread; the clock goes only where a test sends it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/controllers/jobs/job_controller.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/controllers/jobs/pod_gates.hpp"
#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {

/// Collects events instead of writing them.
class EventLog final : public EventSink {
 public:
  void emit(const EventNote& event) override {
    lines.push_back(event.about.kind->kind + " " + event.reason + ": " + event.message);
  }
  std::vector<std::string> lines;
};

struct OwnLog {  // a base: it is there before the machine that writes to it
  EventLog log;
};

struct JobWorld : OwnLog, HostFixture {
  explicit JobWorld(hooks::JobMapping* mapping = nullptr, hooks::PodGate* gate = nullptr,
                    EngineConfig engine = {}, const ManagedJobs& managed = {})
      : HostFixture(std::move(engine), &log),
        policy(managed),
        gates(gate),
        jobs(scheme, {mapping, {}}, managed),
        lifting(scheme, gates) {
    objects.add_policy(policy);
    controllers.add(jobs);
    controllers.add(lifting);
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"small"},"spec":{"nodeLabels":{"size":"small"},
              "tolerations":[{"key":"spot","operator":"Exists"}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"large"},"spec":{"nodeLabels":{"size":"large"}}})");
    queue("cq", "lq", "3", "8");
  }

  /// A ClusterQueue with CPUs of both flavors, and its LocalQueue.
  void queue(const std::string& name, const std::string& local, const std::string& small,
             const std::string& large) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":")" +
          name +
          R"("},"spec":{"namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerPriority"},
             "resourceGroups":[{"coveredResources":["cpu"],"flavors":[
             {"name":"small","resources":[{"name":"cpu","nominalQuota":")" +
          small + R"("}]},{"name":"large","resources":[{"name":"cpu","nominalQuota":")" + large +
          R"("}]}]}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":")" +
          local + R"(","namespace":"default"},"spec":{"clusterQueue":")" + name + R"("}})");
  }

  /// A Job of pods with one CPU each, as a user writes it.
  static std::string job(const std::string& name, int parallelism, const std::string& labels,
                         const std::string& annotations = "", const std::string& pod_spec = "") {
    return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
           R"(","labels":{)" + labels + R"(},"annotations":{)" + annotations +
           R"(}},"spec":{"parallelism":)" + std::to_string(parallelism) + R"(,"completions":)" +
           std::to_string(parallelism) +
           R"(,"completionMode":"Indexed","template":{"spec":{"restartPolicy":"Never",)" +
           pod_spec +
           R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}})";
  }
  static std::string queued(const std::string& queue = "lq") {
    return R"("kueue.x-k8s.io/queue-name":")" + queue + "\"";
  }

  /// The same, of one pod, that a Job of this name and UID controls.
  static std::string child_of(const std::string& parent, const std::string& uid,
                              const std::string& name, const std::string& labels = "") {
    auto out = boost::json::parse(job(name, 1, labels));
    out.at("metadata").as_object()["ownerReferences"] =
        boost::json::array{boost::json::object{{"apiVersion", "batch/v1"},
                                               {"kind", "Job"},
                                               {"name", parent},
                                               {"uid", uid},
                                               {"controller", true}}};
    return boost::json::serialize(out);
  }

  void submit(const std::string& text, const std::string& user = "") {
    WriteRequest wanted = request(WriteVerb::kCreate, "jobs", "", text);
    wanted.user = user;
    const auto done = machine.write(wanted);
    ASSERT_TRUE(done.ok()) << done.error().text;
    settle();
  }
  /// A merge patch that has to be accepted.
  void change(std::string_view resource, std::string_view name, std::string_view patch) {
    const auto done = merge(resource, name, patch);
    ASSERT_TRUE(done.ok()) << done.error().text;
    settle();
  }
  void drop(std::string_view resource, std::string_view name) {
    const auto done = remove(resource, name);
    ASSERT_TRUE(done.ok()) << done.error().text;
    settle();
  }
  void observe(DecisionObserver& to) { machine.observe(to); }
  void settle() { kernel.run_to_rest(); }
  void pass(Duration time) {
    now += time;
    kernel.begin_instant(now);
    settle();
  }
  void status(std::string_view resource, std::string_view name, std::string_view text) {
    auto value = boost::json::parse({text.data(), text.size()});
    const auto done = static_cast<ObjectAccess&>(objects).update_status(
        kind(resource), "default/" + std::string(name), std::move(value.get_object()));
    ASSERT_TRUE(done.ok()) << done.error().text;
    settle();
  }

  /// Names of the workloads in order, finished ones in parentheses.
  std::vector<std::string> workloads() {
    std::vector<std::string> out;
    for (const auto& key : objects.keys(kind("workloads"), "default")) {
      const std::string name = key.substr(key.find('/') + 1);
      out.push_back(condition(name, "Finished") == "(absent)" ? name : "(" + name + ")");
    }
    return out;
  }
  std::string only_workload() {
    const auto all = workloads();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? "" : all[0];
  }
  boost::json::object workload(const std::string& name) {
    return get("workloads", "default/" + name);
  }
  /// `True Reason: message`
  std::string condition(const std::string& name, std::string_view type) {
    const boost::json::object object = workload(name);
    const auto* status = api::find_object(object, "status");
    const auto* conditions = status ? api::find_array(*status, "conditions") : nullptr;
    if (!conditions) return "(absent)";
    for (const auto& each : *conditions) {
      const auto& condition = each.get_object();
      if (api::find_text(condition, "type") != type) continue;
      return std::string(api::find_text(condition, "status")) + " " +
             std::string(api::find_text(condition, "reason")) + ": " +
             std::string(api::find_text(condition, "message"));
    }
    return "(absent)";
  }
  std::string job_at(const std::string& name, std::string_view pointer) {
    return at(get("jobs", "default/" + name), pointer);
  }
  bool runs(const std::string& name) { return job_at(name, "/spec/suspend") == "false"; }
  std::string size_of_nodes(const std::string& name) {
    return job_at(name, "/spec/template/spec/nodeSelector/size");
  }

  JobPolicy policy;
  PodGates gates;
  JobController jobs;
  PodGateController lifting;
};

}  // namespace sluice::host::test
