// ElasticWorld: a host below the API server with the plugin as it is installed, jobs that make
// pods, and a kubelet that starts what may start. It can be ended and started again at any moment,
// with the plugin or without.
//
// One thread; the clock goes only where a test sends it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/json/json.hpp"
#include "core/engine/queue_views.hpp"
#include "host/executor/jobs/job_pods_controller.hpp"
#include "host/executor/jobs/ray_pods_controller.hpp"
#include "host/executor/pod_controller.hpp"
#include "host/machine/machine.hpp"
#include "host/store/carried.hpp"
#include "host/store/live_store.hpp"

namespace elastic::test {

using namespace sluice;        // NOLINT: a test's own world
using namespace sluice::host;  // NOLINT
namespace json = boost::json;

class WorldClock final : public PluginClock {
 public:
  Time now() const override { return time; }
  Duration steady() const override { return 0; }
  bool is_virtual() const override { return false; }
  Time time = *parse_time("2026-01-01T00:00:00Z");
};

class EventLines final : public EventSink {
 public:
  void emit(const EventNote& event) override {
    lines.push_back(event.about.kind->kind + " " + event.about.key + " " + event.reason + ": " +
                    event.message);
  }
  std::vector<std::string> lines;
};

/// What lives from a start of the host to its end.
struct Life {
  Life(WorldClock& host_clock, bool with_plugin, const std::string& plugin_config,
       std::unique_ptr<Journal> journal, EventLines& log, IdSource& id_source)
      : clock(host_clock),
        configuration(configured(with_plugin, plugin_config)),
        rules(load(configuration, clock)),
        store(rules->scheme, std::move(journal)),
        machine(configuration, *rules,
                {.store = store, .ids = id_source, .pods = pods(), .events = &log}) {
    kernel.begin_instant(clock.time);
    machine.load();
  }

  static Configuration configured(bool with_plugin, const std::string& plugin_config) {
    Configuration out;
    out.plugins.directory = SLUICE_PLUGINS;
    out.plugins.load.emplace();
    if (!with_plugin) return out;
    out.plugins.load->emplace_back();
    out.plugins.load->back().name = "elastic-jobs";
    out.plugins.load->back().config_json = plugin_config;
    return out;
  }
  static std::unique_ptr<Rules> load(const Configuration& configuration, const PluginClock& clock) {
    auto loaded = Rules::load(configuration.plugins, std::nullopt, clock);
    SLUICE_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().text);
    return std::move(*loaded);
  }
  AddPods pods() {
    return [this](ControllerLoop& loop, const GatesOfNewPods& gates) {
      job_pods = std::make_unique<JobPodsController>(gates);
      ray_pods = std::make_unique<RayPodsController>(gates);
      loop.add(*job_pods);
      loop.add(*ray_pods);
      loop.add(pod_ends);
    };
  }

  WorldClock& clock;
  Configuration configuration;
  std::unique_ptr<Rules> rules;
  api::Scheme& scheme = rules->scheme;
  PluginRuntime* plugins = rules->plugins.get();
  LiveStore store;
  std::unique_ptr<JobPodsController> job_pods;
  std::unique_ptr<RayPodsController> ray_pods;
  PodController pod_ends;
  Machine machine;
  Kernel& kernel = machine.kernel();
  ObjectWriter& objects = machine.objects();
  ControllerLoop& controllers = machine.controllers();
};

class ElasticWorld {
 public:
  explicit ElasticWorld(const std::string& plugin_config = "{}") : config_(plugin_config) {
    start(true);
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
    flavor("small");
    flavor("large");
  }

  // ---- the host

  void start(bool with_plugin) {
    life_ = std::make_unique<Life>(clock, with_plugin, config_,
                                   carried_.empty() ? nullptr : carried_.journal(), events, ids_);
    settle();
  }
  /// As a kill: no hook is told of the end.
  void restart(bool with_plugin = true) {
    end();
    start(with_plugin);
  }
  /// As a reload without the plugin: it may leave something behind.
  void turn_off() {
    life_->plugins->plugins().turn_off({});
    restart(false);
  }

  void settle() {
    life_->kernel.run_to_rest();
    life_->kernel.engine().verify();
    if (watch) watch();
  }
  void pass(Duration time) {
    clock.time += time;
    life_->kernel.begin_instant(clock.time);
    settle();
  }

  // ---- objects

  const api::KindInfo& kind(std::string_view name) const {
    return *life_->scheme.find_by_name(name);
  }
  void apply(const std::string& text) {
    const auto done = access().create(json::parse(text).get_object());
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  /// What a user sends; the error's text, or nothing.
  std::string send(WriteVerb verb, std::string_view resource, const std::string& name,
                   const std::string& body, const std::string& subresource = "") {
    WriteRequest request;
    request.verb = verb;
    request.kind = &kind(resource);
    request.version = request.kind->versions.front().name;
    if (request.kind->namespaced) request.ns = "default";
    request.name = name;
    request.subresource = subresource;
    if (!body.empty()) request.body = json::parse(body);
    const auto done = life_->machine.write(std::move(request));
    settle();
    return done ? "" : done.error().text;
  }
  void change(std::string_view resource, const std::string& name, const std::string& patch) {
    ASSERT_EQ(send(WriteVerb::kPatch, resource, name, patch), "");
  }
  void drop(std::string_view resource, const std::string& name) {
    ASSERT_EQ(send(WriteVerb::kDelete, resource, name, ""), "");
  }
  void status(std::string_view resource, const std::string& key, json::object value) {
    const auto done = access().update_status(kind(resource), key, std::move(value));
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  json::object get(std::string_view resource, const std::string& key) const {
    return life_->kernel.current(kind(resource), key);
  }
  bool exists(std::string_view resource, const std::string& key) const {
    return life_->kernel.exists(kind(resource), key);
  }
  std::vector<std::string> names(std::string_view resource) {
    std::vector<std::string> out;
    for (const auto& key : access().keys(kind(resource), "default"))
      out.push_back(key.substr(key.find('/') + 1));
    return out;
  }
  static std::string at(const json::object& object, std::string_view pointer) {
    const json::value value(object);
    boost::system::error_code code;
    const auto* found = value.find_pointer({pointer.data(), pointer.size()}, code);
    if (!found) return "";
    return found->is_string() ? std::string(api::view(found->get_string()))
                              : json::serialize(*found);
  }

  // ---- queues

  void flavor(const std::string& name) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":")" +
          name + R"("},"spec":{"nodeLabels":{"size":")" + name + R"("}}})");
  }
  static std::string group(const std::string& small, const std::string& large) {
    return R"([{"coveredResources":["cpu"],"flavors":[
        {"name":"small","resources":[{"name":"cpu","nominalQuota":")" +
           small + R"("}]},{"name":"large","resources":[{"name":"cpu","nominalQuota":")" + large +
           R"("}]}]}])";
  }
  /// ClusterQueue `cq` and LocalQueue `lq` with CPUs of both flavors; `more`: further fields of
  /// the ClusterQueue's spec.
  void queue(const std::string& small, const std::string& large, const std::string& more = "") {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
      "spec":{"namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerPriority"},)" +
          more + R"("resourceGroups":)" + group(small, large) + "}}");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq",
      "namespace":"default"},"spec":{"clusterQueue":"cq"}})");
    settle();
  }
  void quota(const std::string& small, const std::string& large) {
    change("clusterqueues", "cq", R"({"spec":{"resourceGroups":)" + group(small, large) + "}}");
  }
  void check(const std::string& name) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":")" +
          name + R"("},"spec":{"controllerName":"test/nobody"}})");
    auto object = get("admissionchecks", name);
    status("admissionchecks", name,
           json::parse(R"({"conditions":[{"type":"Active","status":"True","reason":"Active",
             "message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]})")
               .get_object());
  }
  void answer(const std::string& workload, const std::string& check, const std::string& state,
              const std::string& updates = "") {
    api::AdmissionCheckState report;
    report.name = check;
    report.state = state;
    auto object = get("workloads", "default/" + workload);
    json::object wanted = object.at("status").get_object();
    for (auto& each : wanted.at("admissionChecks").get_array()) {
      if (at(each.get_object(), "/name") != check) continue;
      each.get_object()["state"] = state;
      if (!updates.empty()) each.get_object()["podSetUpdates"] = json::parse(updates);
    }
    status("workloads", "default/" + workload, wanted);
    settle();
  }
  std::int64_t cpus(bool admitted_only = false) const {
    std::int64_t sum = 0;
    if (const auto view = queue_view(life_->kernel.engine().model(), "cq"))
      for (const FlavorUse& use : view->use) sum += admitted_only ? use.used : use.reserved;
    return sum / 1000;
  }

  // ---- jobs

  static constexpr const char* kElastic = R"("kueue.x-k8s.io/elastic-job":"true")";

  /// A Job of pods with one CPU each. `more`: fields of its spec.
  static std::string job_text(const std::string& name, int parallelism,
                              const std::string& annotations = kElastic, int priority = 0,
                              const std::string& more = R"("completions":1000,)") {
    const std::string klass =
        priority == 0 ? "" : R"("priorityClassName":"p)" + std::to_string(priority) + "\",";
    return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
           R"(","labels":{"kueue.x-k8s.io/queue-name":"lq"},"annotations":{)" + annotations +
           R"(}},"spec":{"parallelism":)" + std::to_string(parallelism) + "," + more +
           R"("template":{"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":0,)" +
           klass +
           R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}})";
  }
  void submit(const std::string& text) {
    ASSERT_EQ(send(WriteVerb::kCreate, "jobs", "", text), "");
    run_pods();
  }
  void resize(const std::string& name, int parallelism) {
    change("jobs", name, R"({"spec":{"parallelism":)" + std::to_string(parallelism) + "}}");
    run_pods();
  }
  bool suspended(const std::string& name) const {
    return at(get("jobs", "default/" + name), "/spec/suspend") == "true";
  }

  /// Of a job, oldest first: `pending 5`, `admitted 3`, `OutOfSync 5`, …
  std::vector<std::string> slices(const std::string& job) {
    std::vector<std::pair<std::int64_t, std::string>> out;
    for (const std::string& name : slice_names(job)) {
      const auto w = get("workloads", "default/" + name);
      out.emplace_back(revision(w), state(w) + " " + counts(w));
    }
    std::sort(out.begin(), out.end());
    std::vector<std::string> texts;
    for (auto& [when, text] : out) texts.push_back(std::move(text));
    return texts;
  }
  std::vector<std::string> slice_names(const std::string& job) {
    std::vector<std::string> out;
    for (const std::string& name : names("workloads"))
      if (at(get("workloads", "default/" + name), "/metadata/ownerReferences/0/name") == job)
        out.push_back(name);
    return out;
  }
  /// The one in this state, with the counts; empty: none.
  std::string slice(const std::string& job, const std::string& what) {
    for (const std::string& name : slice_names(job)) {
      const auto w = get("workloads", "default/" + name);
      if (state(w) + " " + counts(w) == what) return name;
    }
    return "";
  }
  static std::string condition(const json::object& object, const std::string& type,
                               const std::string& field = "status") {
    const auto* status = api::find_object(object, "status");
    const auto* list = status ? api::find_array(*status, "conditions") : nullptr;
    for (std::size_t i = 0; list && i < list->size(); ++i)
      if (at((*list)[i].get_object(), "/type") == type)
        return at((*list)[i].get_object(), "/" + field);
    return "";
  }
  static std::string state(const json::object& w) {
    if (condition(w, "Finished") == "True") return condition(w, "Finished", "reason");
    if (at(w, "/spec/active") == "false") return "inactive";
    if (condition(w, "Admitted") == "True") return "admitted";
    return condition(w, "QuotaReserved") == "True" ? "reserved" : "pending";
  }
  static std::string counts(const json::object& w) {
    std::string out;
    for (const auto& set : w.at("spec").at("podSets").as_array())
      out += (out.empty() ? "" : "/") + json::serialize(set.at("count"));
    return out;
  }

  // ---- pods

  struct Pod {
    std::string name, job, set;
    bool gated = false, running = false, ended = false, deleting = false;
    std::string uid;
  };
  std::vector<Pod> pods(const std::string& job = "") {
    std::vector<Pod> out;
    for (const std::string& name : names("pods")) {
      const auto object = get("pods", "default/" + name);
      Pod pod;
      pod.name = name;
      pod.job = at(object, "/metadata/ownerReferences/0/name");
      pod.set = at(object, "/metadata/labels/kueue.x-k8s.io~1podset");
      pod.uid = at(object, "/metadata/uid");
      const std::string gates = at(object, "/spec/schedulingGates");
      pod.gated = !gates.empty() && gates != "[]";
      const std::string phase = at(object, "/status/phase");
      pod.running = phase == "Running";
      pod.ended = phase == "Succeeded" || phase == "Failed";
      pod.deleting = !at(object, "/metadata/deletionTimestamp").empty();
      if (job.empty() || pod.job == job) out.push_back(pod);
    }
    return out;
  }
  /// UIDs of those that run.
  std::vector<std::string> running(const std::string& job, const std::string& set = "") {
    std::vector<std::string> out;
    for (const Pod& pod : pods(job))
      if (pod.running && !pod.deleting && (set.empty() || pod.set == set)) out.push_back(pod.uid);
    std::sort(out.begin(), out.end());
    return out;
  }
  std::size_t gated(const std::string& job) {
    std::size_t count = 0;
    for (const Pod& pod : pods(job)) count += pod.gated ? 1 : 0;
    return count;
  }
  /// The kubelet: what may run runs, what is to end has ended.
  void run_pods() {
    for (const Pod& pod : pods()) {
      if (pod.deleting && !pod.ended)
        static_cast<void>(
            access().remove(kind("pods"), "default/" + pod.name, Propagation::kBackground, 0));
      if (pod.gated || pod.running || pod.ended || pod.deleting) continue;
      phase(pod.name, "Running", R"(,"conditions":[{"type":"Ready","status":"True"}])");
    }
    settle();
  }
  void phase(const std::string& pod, const std::string& phase, const std::string& more = "") {
    auto object = get("pods", "default/" + pod);
    status("pods", "default/" + pod,
           json::parse(R"({"phase":")" + phase + "\"" + more + "}").get_object());
  }
  void succeed(const std::string& pod) {
    phase(pod, "Succeeded");
    settle();
  }

  std::int64_t metric(const std::string& name) const {
    std::int64_t out = 0;
    for (const auto& each : life_->plugins->plugins().metrics().snapshot())
      if (each.spec.name == name)
        for (const auto& [labels, value] : each.values) out += value;
    return out;
  }

  Life& life() { return *life_; }
  ObjectAccess& access() { return life_->objects; }

  WorldClock clock;
  EventLines events;
  std::function<void()> watch;  ///< called whenever the host is at rest

 private:
  static std::int64_t revision(const json::object& w) {
    const std::string text = at(w, "/metadata/annotations/elastic-jobs.sluice.dev~1revision");
    return text.empty() ? 0 : std::stoll(text);
  }
  void end() {
    const std::uint64_t version = life_->store.working_version();
    life_->store.commit([](const Result<void>&) {});
    while (life_->store.version() < version) std::this_thread::yield();
    Carried carried;
    carried.take(life_->store, life_->scheme);
    life_.reset();
    carried_ = std::move(carried);
  }

  std::string config_;
  CountingIds ids_;
  Carried carried_;
  std::unique_ptr<Life> life_;
};

}  // namespace elastic::test
