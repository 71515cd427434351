#include "host/plugins/validate/subject.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>

#include "api/json/json.hpp"
#include "host/plugins/workload_api.hpp"
#include "host/plugins/workload_text.hpp"

namespace sluice::host {

namespace {

const void* no_service(const sluice_host_t*, sluice_str_t) noexcept { return nullptr; }

boost::json::value parse_or_null(std::string_view text) {
  boost::system::error_code error;
  boost::json::value value = api::parse_deep(text, error);
  return error ? boost::json::value() : value;
}

constexpr std::string_view kQueueJson =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},)"
    R"("spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[)"
    R"({"name":"on-demand","resources":[{"name":"cpu","nominalQuota":"9"}]}]}]}})";

api::Workload workload(const std::string& name, std::int32_t priority, std::int32_t count) {
  api::Workload w;
  w.meta.ns = "team-" + std::to_string(priority % 3);
  w.meta.name = name;
  w.meta.uid = "uid-" + name;
  w.meta.creation_time = (1'700'000'000 + priority) * kSecond;
  w.queue_name = "lq";
  w.priority = priority;
  auto pod = std::make_shared<api::PodTemplate>();
  pod->requests = {{"cpu", 1000}, {"memory", 1 << 30}};
  api::PodSet set;
  set.count = count;
  set.pod = pod;
  w.pod_sets = {set};
  return w;
}

}  // namespace

TestInstance::TestInstance(const sluice_plugin_t& root, std::string config, HostAge age)
    : side("under-test", parse_or_null(config),
           HostServices{&clock, &metrics,
                        [this](int, std::string_view, std::string_view text) {
                          if (text.find("refused a report") != text.npos) refused_report_ = text;
                        }}),
      root_(root),
      config_(std::move(config)) {
  std::memset(&host_, 0xA5, sizeof(host_));
  host_.table = *side.table();
  if (age == HostAge::kFuture) {
    host_.table.size = sizeof(host_);
    host_.table.abi_minor = SLUICE_ABI_MINOR + 7;
  }
  if (age == HostAge::kOld) {
    host_.table.size = offsetof(sluice_host_t, report_fault);
    host_.table.report_fault = nullptr;
    host_.table.service = &no_service;
  }
  side.origin().root = &root;
  side.allow({.timers = true, .reports = true});
  side.connect(&memory);
}

TestInstance::~TestInstance() { end(); }

std::int32_t TestInstance::create() {
  error.clear();
  const sluice_sink_t sink = sink_of(error);
  const Asking asking("plugin.create", "config " + config_);
  const std::int32_t code = root_.create(&host_.table, abi_of(config_), &self, &sink);
  if (code != SLUICE_OK) self = nullptr;
  return code;
}

void TestInstance::start() {
  const std::int32_t created = create();
  expect(created == SLUICE_OK && self != nullptr,
         "create answered " + std::to_string(created) + ": " + error);
  const sluice_sink_t sink = sink_of(error);
  if (root_.activate != nullptr) {
    const Asking asking("plugin.activate", "config " + config_);
    const std::int32_t code = root_.activate(self, &sink);
    expect(code == SLUICE_OK, "activate answered " + std::to_string(code) + ": " + error);
  }
  active_ = true;
  const auto* watch = table<sluice_queue_watch_t>(SLUICE_EXT_QUEUE_WATCH);
  if (watch == nullptr) return;
  for (const std::uint32_t id : {0u, 1u}) {
    const sluice_queue_t queue{sizeof(sluice_queue_t), id, abi_of("cq"), abi_of(kQueueJson)};
    const Asking asking("queue-watch.queue_changed", kQueueJson);
    const std::int32_t code = watch->queue_changed(self, &queue);
    expect(code == SLUICE_OK, "queue_changed answered " + std::to_string(code) +
                                  " for a plain ClusterQueue: " + side.take_fault_text());
  }
}

void TestInstance::fire_timers(HostAge) {
  const auto* timers = table<sluice_timers_t>(SLUICE_EXT_TIMERS);
  if (timers == nullptr) return;
  for (int i = 0; i < 4 && side.next_timer() <= clock.time + 24 * 3600 * kSecond; ++i) {
    clock.time = std::max(clock.time, side.next_timer());
    for (const std::uint64_t number : side.take_due_timers(clock.time)) {
      const Asking asking("timers.fired", "timer " + std::to_string(number) + ", when it is due");
      const std::int32_t code = writing([&] { return timers->fired(self, number, clock.time); });
      expect(code == SLUICE_OK, "timer " + std::to_string(number) + " answered " +
                                    std::to_string(code) + ": " + side.take_fault_text());
    }
  }
}

void TestInstance::end() {
  if (self == nullptr) return;
  const sluice_sink_t sink = sink_of(error);
  if (active_ && root_.deactivate != nullptr) {
    const Asking asking("plugin.deactivate", "", Asking::Again::kYes);
    root_.deactivate(self, &sink);
  }
  active_ = false;
  const Asking asking("plugin.destroy", "", Asking::Again::kYes);
  root_.destroy(self);
  self = nullptr;
}

std::string& UserText::present() {
  static std::string text;
  return text;
}

namespace {

std::int32_t user_annotation(const sluice_workload_t*, sluice_str_t, sluice_str_t* out) noexcept {
  *out = abi_of(UserText::present());
  return 1;
}

}  // namespace

const sluice_workload_api_t* workload_api(HostAge age) {
  static const sluice_workload_api_t old = [] {
    sluice_workload_api_t table;
    std::memset(&table, 0xA5, sizeof(table));  // what is behind the end is no pointer
    constexpr std::size_t end = offsetof(sluice_workload_api_t, admitted_count);
    std::memcpy(&table, ref_of(api::Workload{}).api, end);
    table.size = static_cast<std::uint32_t>(end);
    return table;
  }();
  static const sluice_workload_api_t* const present = ref_of(api::Workload{}).api;
  static const sluice_workload_api_t of_users = [] {
    sluice_workload_api_t table = *present;
    table.annotation = &user_annotation;
    return table;
  }();
  if (!UserText::present().empty()) return &of_users;
  return age == HostAge::kOld ? &old : present;
}

sluice_workload_ref_t ref_of(const api::Workload& workload, HostAge age) {
  return {workload_api(age), handle_of(workload)};
}

const std::vector<api::Workload>& sample_workloads() {
  static const std::vector<api::Workload> samples = [] {
    std::vector<api::Workload> all;
    all.push_back(workload("plain", 0, 1));
    all.push_back(workload("labelled", 100, 3));
    all.back().meta.labels.set("tier", "production");
    all.back().meta.labels.set("team", "research");
    all.back().meta.annotations.set("example.com/note", "a \"quoted\" note");
    all.push_back(workload("admitted", -5, 2));
    all.back().status.admission =
        api::Admission{"cq", {api::PodSetAssignment{"main", 2, {}, {{"cpu", 2000}}}}};
    all.back().status.admission->pod_sets[0].flavors.set("cpu", "on-demand");
    all.back().status.conditions = {{"Admitted", "True", "Admitted", "", 0, 0}};
    all.push_back(workload("many-sets", 7, 4));
    all.back().pod_sets.push_back(all.back().pod_sets[0]);
    all.back().pod_sets[1].name = "workers";
    all.back().pod_sets[1].min_count = 1;
    all.back().extensions = R"({"spec":{"unknownField":{"a":[1,2]}}})";
    all.push_back(api::Workload{});  // nothing set at all
    return all;
  }();
  return samples;
}

std::string shown(const api::Workload& workload) { return "workload " + workload_text(workload); }

const std::vector<std::string>& sample_flavors() {
  static const std::vector<std::string> flavors = {"on-demand", "spot", "spot-large",
                                                   "reserved",  "",     "gpu-a100"};
  return flavors;
}

std::vector<hooks::FlavorFacts> sample_facts(const std::vector<std::string>& flavors) {
  static const api::LabelMap labels({{"example.com/zone", "b"}, {"kubernetes.io/arch", "amd64"}});
  static const std::vector<api::Taint> taints = {
      {"example.com/spot", "true", api::TaintEffect::kNoExecute}};
  std::vector<hooks::FlavorFacts> out;
  for (const std::string& name : flavors) {
    const bool exists = !name.empty();
    out.push_back({name, exists ? &labels : nullptr, exists ? &taints : nullptr});
  }
  return out;
}

const api::ClusterQueue& sample_queue() {
  static const api::ClusterQueue queue = [] {
    api::ClusterQueue made;
    made.meta.name = "cq";
    made.cohort = "all";
    api::ResourceQuota quota;
    quota.resource = "cpu";
    quota.nominal = api::Quantity::of_units(9);
    quota.borrowing_limit = api::Quantity::of_units(3);
    made.resource_groups = {{{"cpu"}, {{"on-demand", {quota}}}}};
    return made;
  }();
  return queue;
}

}  // namespace sluice::host
