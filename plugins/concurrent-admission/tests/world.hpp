// RaceWorld: a host's kernel with the plugin, a store in memory and a clock that the test turns.
// Only the API server, jobs and the executor are missing. One thread.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/json/json.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/machine/machine.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

/// Fields of a ClusterQueue's spec.
inline std::string policy(const std::string& on_success, const std::string& more = "") {
  return R"("concurrentAdmission":{"onSuccess":")" + on_success + "\"" + more + "}";
}
/// More of a Workload's spec.
inline std::string only(const std::string& flavor) {
  return R"(,"admissionConstraints":{"allowedResourceFlavors":[")" + flavor + "\"]}";
}

class TurnedClock final : public PluginClock {
 public:
  Time now() const override { return time; }
  Duration steady() const override { return 0; }
  Time time = *parse_time("2026-01-01T00:00:00Z");
};

class RaceWorld final : public DecisionObserver {
 public:
  /// Everything but the store: what a restart makes anew.
  struct Running {
    Running(RaceWorld& world)  // NOLINT
        : configuration(configured(world)),
          rules(load(configuration, world.clock)),
          machine(configuration, *rules,
                  {.store = *world.store, .ids = world.ids, .controllers = false}) {
      machine.observe(world);
    }
    static Configuration configured(const RaceWorld& world) {
      Configuration out;
      out.engine = world.scheduling;
      out.engine.threads = 1;
      out.plugins.directory = SLUICE_PLUGINS;
      out.plugins.load.emplace(world.with_elastic ? 2 : 1);
      out.plugins.load->front().name = "concurrent-admission";
      if (world.with_elastic) out.plugins.load->back().name = "elastic-jobs";
      return out;
    }
    static std::unique_ptr<Rules> load(const Configuration& config, const PluginClock& clock) {
      auto loaded = Rules::load(config.plugins, std::nullopt, clock);
      SLUICE_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().text);
      return std::move(*loaded);
    }
    Configuration configuration;
    std::unique_ptr<Rules> rules;
    Machine machine;
    api::Scheme& scheme = rules->scheme;
    PluginRuntime* plugins = rules->plugins.get();
    Intake& intake = *rules->intake;
    ObjectWriter& objects = machine.objects();
  };

  explicit RaceWorld(EngineConfig config = {}, bool elastic = false)
      : scheduling(std::move(config)), with_elastic(elastic) {
    start();
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns"}})");
  }

  /// As a host that comes up with what is in the store.
  void start() {
    std::map<std::string, std::vector<boost::json::object>> kept;
    if (running) {
      for (const api::KindInfo* kind : running->scheme.kinds())
        for (const StoredObject* each : store->list(*kind))
          kept[kind->hub_api_version() + " " + kind->kind].push_back(to_object(*each));
    }
    running.reset();
    store = std::make_unique<MemoryStore>();
    running = std::make_unique<Running>(*this);
    for (const auto& [name, objects] : kept) {
      const std::size_t space = name.find(' ');
      const api::KindInfo* kind =
          running->scheme.find(name.substr(0, space), name.substr(space + 1));
      for (const boost::json::object& object : objects)
        store->put(running->intake.encode(*kind, object).stored);
    }
    kernel().begin_instant(clock.time);
    running->machine.load();
  }

  Kernel& kernel() { return running->machine.kernel(); }
  const Engine& engine() { return kernel().engine(); }
  const api::KindInfo& kind(std::string_view name) { return *running->scheme.find_by_name(name); }

  void apply(const std::string& text) {
    boost::json::object object = boost::json::parse(text).get_object();
    const auto done = static_cast<ObjectAccess&>(running->objects).create(std::move(object));
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
  }
  /// Merge patch; the error's text, or nothing.
  std::string patch(std::string_view kind_name, const std::string& key, const std::string& merge,
                    bool status = false) {
    const WorkingView& view = running->objects.view();
    Edit edit = open_edit(view, {&kind(kind_name), key}, view.find(kind(kind_name), key), status);
    boost::json::value after = edit.copy();
    merge_patch(after, boost::json::parse(merge));
    edit.set_after(std::move(after.get_object()));
    const auto done = running->objects.replace(std::move(edit), WriteMode());
    return done ? std::string() : done.error().text;
  }
  void remove(std::string_view kind_name, const std::string& key,
              Propagation how = Propagation::kBackground) {
    const auto done = static_cast<ObjectAccess&>(running->objects)
                          .remove(kind(kind_name), key, how, std::nullopt);
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
  }

  void flavors(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      apply(
          R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":")" +
          name + R"("},"spec":{}})");
  }
  static std::string spec(const std::vector<std::pair<std::string, int>>& quotas,
                          const std::string& more) {
    std::string list;
    for (const auto& [flavor, cpus] : quotas)
      list += (list.empty() ? "" : ",") + std::string(R"({"name":")") + flavor +
              R"(","resources":[{"name":"cpu","nominalQuota":)" + std::to_string(cpus) + "}]}";
    return R"({"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[)" +
           list + "]}]" + (more.empty() ? "" : "," + more) + "}";
  }
  /// A ClusterQueue and a LocalQueue of that name.
  void queue(const std::string& name, const std::vector<std::pair<std::string, int>>& quotas,
             const std::string& more) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":")" +
          name + R"("},"spec":)" + spec(quotas, more) + "}");
    apply(
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"namespace":"ns",
          "name":")" +
        name + R"("},"spec":{"clusterQueue":")" + name + R"("}})");
  }
  void workload(const std::string& name, const std::string& queue, int cpus, int priority = 0,
                const std::string& more = "") {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns",
          "name":")" +
          name + R"("},"spec":{"queueName":")" + queue + R"(","priority":)" +
          std::to_string(priority) + more + R"(,"podSets":[{"name":"main","count":1,"template":{
          "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{
          "requests":{"cpu":)" +
          std::to_string(cpus) + "}}}]}}}]}}");
  }
  void finish(const std::string& name) {
    const auto done =
        static_cast<ObjectAccess&>(running->objects).finish_workload("ns/" + name, "Succeeded", "");
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
  }
  bool answer(const std::string& name, const std::string& check, const std::string& state,
              int after_seconds = 0) {
    api::AdmissionCheckState report;
    report.name = check;
    report.state = state;
    report.message = state;
    if (after_seconds > 0) report.requeue_after_seconds = after_seconds;
    return static_cast<ObjectAccess&>(running->objects).report_check("ns/" + name, report).ok();
  }

  void rest() {
    while (!kernel().run(1)) committed();
    committed();
  }
  void pass(Duration time) {
    const Time end = clock.time + time;
    while (kernel().next_timer() <= end) {
      clock.time = std::max(clock.time, kernel().next_timer());
      kernel().begin_instant(clock.time);
      rest();
    }
    clock.time = end;
    kernel().begin_instant(end);
    rest();
  }

  bool exists(const std::string& name) { return kernel().exists(kind("Workload"), "ns/" + name); }
  boost::json::object get(const std::string& name) {
    return kernel().current(kind("Workload"), "ns/" + name);
  }
  std::string at(const std::string& name, const char* pointer) {
    const boost::json::value object(get(name));
    boost::system::error_code code;
    const boost::json::value* found = object.find_pointer(pointer, code);
    if (found == nullptr) return "(absent)";
    return found->is_string() ? std::string(api::view(found->get_string()))
                              : boost::json::serialize(*found);
  }
  std::string condition(const std::string& name, std::string_view type, const char* field) {
    const boost::json::value object(get(name));
    boost::system::error_code code;
    const boost::json::value* list = object.find_pointer("/status/conditions", code);
    if (list != nullptr)
      for (const auto& each : list->as_array())
        if (api::find_text(each.as_object(), "type") == type)
          return std::string(api::find_text(each.as_object(), field));
    return "(absent)";
  }
  /// `a=Pending b=Admitted` of status.options, names without the parent's.
  std::string options(const std::string& parent) {
    const boost::json::value object(get(parent));
    boost::system::error_code code;
    const boost::json::value* list = object.find_pointer("/status/options", code);
    std::string out;
    if (list != nullptr)
      for (const auto& each : list->as_array())
        out += (out.empty() ? "" : " ") +
               std::string(api::find_text(each.as_object(), "name")).substr(parent.size() + 8) +
               "=" + std::string(api::find_text(each.as_object(), "state"));
    return out.empty() ? "(none)" : out;
  }
  std::string state(const std::string& name) {
    switch (engine().state(*engine().find("ns/" + name))) {
      case WorkloadState::kPending:
        return "pending";
      case WorkloadState::kQuotaReserved:
        return "reserved";
      case WorkloadState::kAdmitted:
        return "admitted";
      case WorkloadState::kInactive:
        return "inactive";
      case WorkloadState::kFinished:
        break;
    }
    return "finished";
  }

  void decided(Time, const Decision& decision) override {
    const std::string name = engine().key(decision.workload).substr(3);
    if (decision.type == DecisionType::kAdmitted) log.push_back("admitted " + name);
    if (decision.type == DecisionType::kEvicted)
      log.push_back("evicted " + name + " " + decision.reason);
    if (decision.type == DecisionType::kFinished) log.push_back("finished " + name);
  }
  void cycled(const CycleReport& cycle) override { cycles.push_back(cycle.took); }
  std::vector<std::string> take_log() { return std::exchange(log, {}); }

  EngineConfig scheduling;
  bool with_elastic;  // is elastic-jobs loaded, too?
  TurnedClock clock;
  CountingIds ids;
  std::unique_ptr<MemoryStore> store;
  std::unique_ptr<Running> running;
  std::vector<std::string> log;
  std::vector<Duration> cycles;             // real time that each took
  std::function<void()> committed = [] {};  // after each step, as a live host would commit it
};

}  // namespace sluice::host
