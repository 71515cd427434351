// The questions of check-controller/1 and controller/1, with a FakeObjects behind the services.
#include <algorithm>

#include "host/plugins/validate/fake_objects.hpp"
#include "host/plugins/validate/hook_runs.hpp"
#include "host/plugins/workload_api.hpp"

namespace sluice::host {

namespace {

constexpr std::string_view kGarbage[] = {"", "no json", "[]", "{\"spec\":7}", "{\"metadata\":[]}"};

/// A call in which the plugin may use objects; what a failed call wrote is dropped.
template <typename Fn>
std::int32_t within(TestInstance& instance, Fn&& fn) {
  instance.side.begin_call();
  const std::int32_t code = fn();
  expect(instance.side.end_call(code == SLUICE_OK).ok(), "its writes cannot be kept");
  return code;
}

std::vector<std::string> lines_from(TestInstance& instance,
                                    std::int32_t (*ask)(sluice_instance_t*, const sluice_sink_t*),
                                    const char* what) {
  std::string text;
  const sluice_sink_t sink = sink_into(text);
  const std::int32_t code = ask(instance.self, &sink);
  expect(code == SLUICE_OK, std::string(what) + " answered " + std::to_string(code));
  return lines_of(text);
}

struct Checks {
  TestInstance& instance;
  const sluice_check_controller_t& table;
  HostAge age;
  std::string controller;
  std::string check_json;
  std::vector<std::uint64_t> begun;

  Checks(TestInstance& of, const sluice_check_controller_t& with, HostAge of_age)
      : instance(of), table(with), age(of_age) {
    const auto names = lines_from(instance, table.controllers, "controllers");
    expect(!names.empty(), "it names no controller");
    expect(names == lines_from(instance, table.controllers, "controllers"),
           "its controllers change");
    controller = names.front();
    check_json = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":)"
                 R"({"name":"check","uid":"uid-check"},"spec":{"controllerName":")" +
                 controller + "\"}}";
  }

  std::int32_t changed(std::string_view json, std::string& answer) {
    struct Said {
      std::string text;
      bool sensible = true;
    } said;
    const Longer<sluice_check_t> check({0, json.empty() ? 1 : 0, abi_of("check"), abi_of(json)},
                                       age);
    const sluice_activity_sink_t sink{
        sizeof(sluice_activity_sink_t), 0, &said,
        [](void* out, std::int32_t active, sluice_str_t reason, sluice_str_t message) {
          Said& to = *static_cast<Said*>(out);
          to.text = std::to_string(active) + text_of(reason) + text_of(message);
          to.sensible = (active == 0 || active == 1) && reason.len > 0;
        }};
    const std::int32_t code =
        within(instance, [&] { return table.check_changed(instance.self, check.get(), &sink); });
    expect(code != SLUICE_OK || said.sensible, "check_changed says that a check is " + said.text);
    answer += said.text;
    return code;
  }

  std::int32_t begin(const api::Workload& workload, std::uint64_t attempt,
                     std::string_view workload_json) {
    begun.push_back(attempt);
    const Longer<sluice_check_query_t> query(
        {0, 0, attempt, ref_of(workload), abi_of(workload_json), abi_of("check"),
         abi_of(check_json)},
        age);
    return within(instance, [&] { return table.begin(instance.self, query.get()); });
  }

  std::int32_t cancel(const api::Workload& workload, std::uint64_t attempt) {
    const Longer<sluice_check_cancel_t> cancel(
        {0, 0, attempt, abi_of(workload.meta.ns), abi_of(workload.meta.name),
         abi_of(workload.meta.uid), abi_of("check"), abi_of("it was evicted")},
        age);
    return within(instance, [&] { return table.cancel(instance.self, cancel.get()); });
  }

  /// What it reported, and only on what was begun.
  std::string reports() {
    std::string text;
    for (const CheckReport& report : instance.side.take_reports()) {
      expect(std::find(begun.begin(), begun.end(), report.attempt) != begun.end(),
             "it reports on attempt " + std::to_string(report.attempt) + ", which was never begun");
      expect(report.check == "check",
             "it reports on the check \"" + report.check + "\", which it was not asked about");
      text += report.name + " " + report.state + " " + report.message + ";";
    }
    return text;
  }
};

void say(std::int32_t code, TestInstance& instance, const std::string& what) {
  expect(code == SLUICE_OK,
         what + " answered " + std::to_string(code) + ": " + instance.side.take_fault_text());
}

std::string workload_json(const api::Workload& workload) {
  return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":")" +
         workload.meta.name + R"(","namespace":")" + workload.meta.ns + R"(","uid":")" +
         workload.meta.uid +
         R"("},"spec":{"podSets":[{"name":"main","count":1,"template":)"
         R"({"spec":{"containers":[{"name":"c","image":"i"}]}}}]},"status":{"conditions":)"
         R"([{"type":"QuotaReserved","status":"True"}],"admission":{"clusterQueue":"cq",)"
         R"("podSetAssignments":[{"name":"main","count":1}]}}})";
}

std::string reconcile(TestInstance& instance, const sluice_controller_t& table,
                      const std::string& kind_line, std::string_view name, HostAge age) {
  const std::size_t space = kind_line.find(' ');
  const Longer<sluice_reconcile_t> what(
      {0, 0, abi_of(std::string_view(kind_line).substr(0, space)),
       abi_of(std::string_view(kind_line).substr(space + 1)), abi_of("team-0"), abi_of(name)},
      age);
  std::int64_t again = 0;
  say(within(instance, [&] { return table.reconcile(instance.self, what.get(), &again); }),
      instance, "reconcile of a " + kind_line + " that is not there");
  expect(again >= 0, "reconcile wants to be called again in " + std::to_string(again) + " ms");
  return kind_line + " " + std::to_string(again) + ";";
}

}  // namespace

std::string ask_checks(TestInstance& instance, HostAge age) {
  const auto* table = instance.table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER);
  if (table == nullptr) return {};
  FakeObjects objects;
  instance.side.connect(&objects);
  Checks checks(instance, *table, age);
  std::string text;
  say(checks.changed(checks.check_json, text), instance, "check_changed");
  const auto& workloads = sample_workloads();
  std::uint64_t attempt = 0;
  for (const api::Workload& workload : workloads)
    say(checks.begin(workload, ++attempt, workload_json(workload)), instance, "begin");
  text += checks.reports() + objects.text();
  const std::string before = objects.text();
  attempt = 0;
  for (const api::Workload& workload : workloads)
    say(checks.begin(workload, ++attempt, workload_json(workload)), instance,
        "begin of an attempt that it knows");
  expect(objects.text() == before, "to begin an attempt again changes objects or state");
  checks.reports();
  attempt = 0;
  for (const api::Workload& workload : workloads) {
    say(checks.cancel(workload, ++attempt), instance, "cancel");
    say(checks.cancel(workload, attempt), instance, "cancel of an attempt that is over");
  }
  say(checks.cancel(workloads.front(), 4711), instance, "cancel of an unknown attempt");
  checks.reports();
  say(checks.changed({}, text), instance, "check_changed of a check that is gone");
  say(checks.changed({}, text), instance, "check_changed of a check that it does not know");
  instance.side.connect(nullptr);
  return text;
}

std::string ask_controller(TestInstance& instance, HostAge age) {
  const auto* table = instance.table<sluice_controller_t>(SLUICE_EXT_CONTROLLER);
  if (table == nullptr) return {};
  FakeObjects objects;
  instance.side.connect(&objects);
  const auto kinds = lines_from(instance, table->kinds, "kinds");
  expect(!kinds.empty(), "it watches no kind");
  std::string text;
  for (const std::string& kind : kinds) {
    expect(std::count(kind.begin(), kind.end(), ' ') == 1,
           "it watches \"" + kind + "\"; GROUP/VERSION KIND is needed");
    for (int twice = 0; twice < 2; ++twice) text += reconcile(instance, *table, kind, "gone", age);
  }
  instance.side.connect(nullptr);
  return text + objects.text();
}

void feed_check_garbage(TestInstance& instance) {
  const auto* table = instance.table<sluice_check_controller_t>(SLUICE_EXT_CHECK_CONTROLLER);
  if (table == nullptr) return;
  FakeObjects objects;
  instance.side.connect(&objects);
  Checks checks(instance, *table, HostAge::kPresent);
  std::uint64_t attempt = 0;
  for (const std::string_view text : kGarbage) {
    std::string unused;
    checks.changed(text, unused);
    checks.check_json = text;
    checks.begin(sample_workloads().front(), ++attempt, text);
    checks.cancel(sample_workloads().front(), attempt);
  }
  instance.side.take_reports();
  instance.side.connect(nullptr);
}

}  // namespace sluice::host
