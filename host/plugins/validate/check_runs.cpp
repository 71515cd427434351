#include <algorithm>
#include <set>

#include "host/objects/object_key.hpp"
#include "host/plugins/validate/hook_runs.hpp"
#include "sluice/cpp/json.hpp"

namespace sluice::host {

namespace {

/// An attempt at a check of one of the sample workloads.
struct Attempt {
  const api::Workload* workload = nullptr;
  std::uint64_t number = 1;
};

constexpr std::string_view kCheck = "under-test";

std::string check_json(const std::string& controller) {
  Json json = Json::object();
  json["apiVersion"] = "kueue.x-k8s.io/v1beta2";
  json["kind"] = "AdmissionCheck";
  json["metadata"]["name"] = kCheck;
  json["metadata"]["uid"] = "uid-check";
  json["spec"]["controllerName"] = controller;
  return json.dump();
}

std::string workload_json(const api::Workload& workload) {
  Json json = Json::object();
  json["apiVersion"] = "kueue.x-k8s.io/v1beta2";
  json["kind"] = "Workload";
  json["metadata"]["namespace"] = workload.meta.ns;
  json["metadata"]["name"] = workload.meta.name;
  json["metadata"]["uid"] = workload.meta.uid;
  if (const std::string& note = UserText::present(); !note.empty())
    json["metadata"]["annotations"]["example.com/note"] = note;
  json["spec"]["queueName"] = workload.queue_name;
  for (const api::PodSet& set : workload.pod_sets) {
    Json one = Json::object();
    one["name"] = set.name;
    one["count"] = set.count;
    json["spec"]["podSets"].push_back(std::move(one));
  }
  return json.dump();
}

const sluice_check_controller_t* checks_of(const TestInstance& instance) {
  return instance.table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER);
}

std::int32_t begin(TestInstance& instance, const Attempt& attempt, std::string_view json,
                   std::string_view check, HostAge age) {
  const Longer<sluice_check_query_t> query(
      {0, static_cast<std::int32_t>(attempt.number - 1), attempt.number,
       ref_of(*attempt.workload, age), abi_of(json), abi_of(kCheck), abi_of(check)},
      age);
  const Asking asking("check-controller.begin", "attempt " + std::to_string(attempt.number) +
                                                    " of " + shown_bytes(json) + ", check " +
                                                    shown_bytes(check));
  return instance.writing([&] { return checks_of(instance)->begin(instance.self, query.get()); });
}

std::int32_t cancel(TestInstance& instance, const Attempt& attempt, HostAge age) {
  const api::ObjectMeta& meta = attempt.workload->meta;
  const Longer<sluice_check_cancel_t> cancelled(
      {0, 0, attempt.number, abi_of(meta.ns), abi_of(meta.name), abi_of(meta.uid), abi_of(kCheck),
       abi_of("it was evicted")},
      age);
  const Asking asking("check-controller.cancel", "attempt " + std::to_string(attempt.number) +
                                                     " of " + shown(*attempt.workload));
  return instance.writing(
      [&] { return checks_of(instance)->cancel(instance.self, cancelled.get()); });
}

void expect_ok(const TestInstance& instance, const char* hook, std::int32_t code,
               const std::string& when) {
  expect(code == SLUICE_OK, std::string(hook) + " answered " + std::to_string(code) + " " + when +
                                ": " + instance.side.take_fault_text());
}

/// Every report is about an attempt that began, and was taken.
void look_at_reports(TestInstance& instance, const std::set<std::uint64_t>& begun) {
  for (const CheckReport& report : instance.side.take_reports()) {
    const auto& all = sample_workloads();
    const bool known = std::any_of(all.begin(), all.end(), [&](const api::Workload& w) {
      return w.meta.ns == report.ns && w.meta.name == report.name && w.meta.uid == report.uid;
    });
    expect(known && report.check == kCheck && begun.contains(report.attempt),
           "it reports on attempt " + std::to_string(report.attempt) + " of check " + report.check +
               " of workload " + join_key(report.ns, report.name) + ", which never began");
  }
  const std::string refused = instance.refused_report();
  expect(refused.empty(), refused);
}

}  // namespace

std::vector<std::string> names_of_checks(TestInstance& instance) {
  return names_said(instance, "check-controller.controllers", checks_of(instance)->controllers,
                    "a controllerName");
}

void drive_checks(TestInstance& instance, HostAge age) {
  const std::vector<std::string> names = names_of_checks(instance);
  expect(!names.empty(), "it names no controllerName");
  expect(names == names_of_checks(instance), "the names that it answers for change");
  const std::string check = check_json(names[0]);
  const sluice_activity_sink_t activity{sizeof(sluice_activity_sink_t), 0, nullptr,
                                        [](void*, std::int32_t, sluice_str_t, sluice_str_t) {}};
  const Longer<sluice_check_t> exists({0, 0, abi_of(kCheck), abi_of(check)}, age);
  const auto tell = [&](const sluice_check_t* what) {
    const Asking asking("check-controller.check_changed", shown_bytes(view_of(what->json)));
    return instance.writing(
        [&] { return checks_of(instance)->check_changed(instance.self, what, &activity); });
  };
  expect_ok(instance, "check_changed", tell(exists.get()), "to a plain AdmissionCheck");
  std::set<std::uint64_t> begun;
  for (const std::uint64_t number : {1u, 2u}) {
    begun.insert(number);
    for (const api::Workload& workload : sample_workloads()) {
      if (workload.meta.name.empty()) continue;
      const Attempt attempt{&workload, number};
      const std::string json = workload_json(workload);
      testing::FakeObjects& objects = instance.memory.objects();
      expect_ok(instance, "begin", begin(instance, attempt, json, check, age), "when it began");
      const auto state = objects.state;
      const std::int64_t writes = objects.writes();
      expect_ok(instance, "begin", begin(instance, attempt, json, check, age),
                "when it began again");
      expect(objects.writes() == writes && objects.state == state,
             "to begin an attempt again changes objects or state");
      instance.fire_timers(age);
      if (number == 2) continue;  // these are under way when the plugin is turned off
      for (const char* when : {"when it was cancelled", "when it was cancelled again"})
        expect_ok(instance, "cancel", cancel(instance, attempt, age), when);
    }
    look_at_reports(instance, begun);
  }
  const Longer<sluice_check_t> gone({0, 1, abi_of(kCheck), abi_of("")}, age);
  expect_ok(instance, "check_changed", tell(gone.get()), "to a check that is gone");
}

void cancel_unknown(TestInstance& instance) {
  for (const api::Workload& workload : sample_workloads())
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}})
      expect_ok(instance, "cancel", cancel(instance, {&workload, number}, HostAge::kPresent),
                "for an attempt that it never saw");
}

void feed_check_garbage(TestInstance& instance) {
  if (checks_of(instance) == nullptr) return;
  const sluice_activity_sink_t activity{sizeof(sluice_activity_sink_t), 0, nullptr,
                                        [](void*, std::int32_t, sluice_str_t, sluice_str_t) {}};
  for (const std::string_view text :
       {std::string_view(""), std::string_view("no json"), std::string_view("[]"),
        std::string_view("{\"spec\":7}"), std::string_view("\xff\xfe")}) {
    const sluice_check_t check{sizeof(sluice_check_t), 0, abi_of(kCheck), abi_of(text)};
    const auto changed = [&] {
      const Asking asking("check-controller.check_changed", shown_bytes(text));
      return checks_of(instance)->check_changed(instance.self, &check, &activity);
    };
    instance.writing(changed);
    begin(instance, {&sample_workloads()[0], 1}, text, text, HostAge::kPresent);
  }
  instance.side.take_reports();
}

std::vector<PluginObjectRef> watched_kinds(TestInstance& instance, std::string& text) {
  const auto* controller = instance.table<sluice_controller_t>(SLUICE_EXT_CONTROLLER);
  const sluice_sink_t sink = sink_of(text);
  const Asking asking("controller.kinds", "");
  expect_ok(instance, "kinds", controller->kinds(instance.self, &sink), "when asked for the kinds");
  std::vector<PluginObjectRef> kinds;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t space = line.find(' ');
    expect(space != line.npos && space > 0 && space + 1 < line.size(),
           "it watches \"" + std::string(line) + "\", which is not GROUP/VERSION KIND");
    const std::string_view kind = line.substr(space + 1);
    kinds.push_back({line.substr(0, space), kind.substr(0, kind.find(' ')), "", ""});
  }
  expect(!kinds.empty(), "it is a controller, but watches no kind");
  return kinds;
}

std::int32_t reconcile(TestInstance& instance, const PluginObjectRef& what, HostAge age) {
  const auto* controller = instance.table<sluice_controller_t>(SLUICE_EXT_CONTROLLER);
  const Longer<sluice_reconcile_t> raw(
      {0, 0, abi_of(what.api_version), abi_of(what.kind), abi_of(what.ns), abi_of(what.name), {}},
      age);
  std::int64_t again = 0;
  const std::int32_t code =
      instance.writing([&] { return controller->reconcile(instance.self, raw.get(), &again); });
  expect(again >= SLUICE_AGAIN_AT_ONCE,
         "reconcile wants to be called again in " + std::to_string(again) + " ms");
  return code;
}

}  // namespace sluice::host
