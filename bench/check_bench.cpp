// Admission checks through a plugin: what a begin and a report cost with many workloads waiting,
// and how long the writes of others wait while a plugin is slow.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "host/controllers/checks/check_controller.hpp"
#include "host/machine/machine.hpp"
#include "host/serve/control_loop.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  std::exit(1);
}

/// The machine's clock, which can be set forward.
class BenchClock final : public PluginClock {
 public:
  Time now() const override { return system_.now() + ahead; }
  Duration steady() const override { return system_.steady(); }
  std::atomic<Duration> ahead = 0;

 private:
  SystemPluginClock system_;
};

class SilentEvents final : public EventSink {
 public:
  void emit(const EventNote&) override {}
};

/// A host without a network: a queue `checked`, whose workloads wait for the plugin, and a queue
/// `free` without checks.
struct CheckHost {
  explicit CheckHost(int begin_ms)
      : configuration(configured(begin_ms)), rules(load(configuration, clock)) {
    controllers.add(checks);
    controllers.limit_run(1000, kSecond, clock);
    kernel.begin_instant(clock.now());
    machine.load();
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
              "metadata":{"name":"f"}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{
              "name":"check"},"spec":{"controllerName":"example.com/bench"}})");
    queue("checked", R"("admissionChecksStrategy":{"admissionChecks":[{"name":"check"}]},)");
    queue("free", "");
    kernel.run_to_rest();
  }

  static Configuration configured(int begin_ms) {
    Configuration out;
    out.plugins.directory = SLUICE_BENCH_PLUGINS;
    out.plugins.load.emplace(1);
    out.plugins.load->back().name = "bench-idle";
    out.plugins.load->back().config_json = R"({"beginMs":)" + std::to_string(begin_ms) + "}";
    return out;
  }
  static std::unique_ptr<Rules> load(const Configuration& config, const PluginClock& clock) {
    auto loaded = Rules::load(config.plugins, std::nullopt, clock);
    if (!loaded) fail(loaded.error().text);
    return std::move(*loaded);
  }
  void apply(const std::string& text) {
    const auto made = static_cast<ObjectAccess&>(objects).create(json::parse(text).get_object());
    if (!made) fail(made.error().text);
  }
  void queue(const std::string& name, const std::string& asks) {
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":")" +
          name + R"("},"spec":{)" + asks +
          R"("namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{
          "name":"f","resources":[{"name":"cpu","nominalQuota":"1000000"}]}]}]}})");
    apply(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{
          "namespace":"ns","name":")" +
          name + R"("},"spec":{"clusterQueue":")" + name + R"("}})");
  }
  static std::string workload(const std::string& name, const std::string& queue_name) {
    return R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{
        "namespace":"ns","name":")" +
           name + R"("},"spec":{"queueName":")" + queue_name +
           R"(","podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]}})";
  }
  /// So many workloads wait for the plugin. Seconds that it took to reserve and begin them.
  double reserve(int count) {
    for (int i = 0; i < count; ++i) apply(workload("w" + std::to_string(i), "checked"));
    const auto began = std::chrono::steady_clock::now();
    kernel.run_to_rest();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  std::uint64_t calls(std::string_view hook) const {
    for (const PluginStatus& plugin : plugins->plugins().status())
      for (const HookStatus& each : plugin.hooks)
        if (each.hook == hook) return each.stats.calls;
    return 0;
  }

  BenchClock clock;
  Configuration configuration;
  std::unique_ptr<Rules> rules;
  api::Scheme& scheme = rules->scheme;
  PluginRuntime* plugins = rules->plugins.get();
  LiveStore store{scheme, nullptr};
  CountingIds ids;
  SilentEvents events;
  Machine machine{
      configuration, *rules, {.store = store, .ids = ids, .events = &events, .controllers = false}};
  Kernel& kernel = machine.kernel();
  ObjectWriter& objects = machine.objects();
  ControllerLoop& controllers = machine.controllers();
  CheckController checks{scheme, kernel.engine(), plugins->plugins().check_controllers()};
};

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// All that wait are told Ready by the plugin in one instant: from its reports to the admissions in
/// the store. Time per report; `cpu_us` is that of the processor.
void ReportsOfAPlugin(benchmark::State& state) {
  const auto count = static_cast<int>(state.range(0));
  for (auto _ : state) {
    CheckHost host(0);
    state.counters["reserve_us"] = host.reserve(count) / count * 1e6;
    while (host.calls("check-controller.begin") < static_cast<std::uint64_t>(count)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // its share of the time
      host.kernel.begin_instant(host.clock.now());
      host.kernel.run_to_rest();
    }
    host.clock.ahead += 3601 * kSecond;
    const double used = processor_seconds();
    const auto began = std::chrono::steady_clock::now();
    while (host.kernel.engine().stats().admissions < static_cast<std::uint64_t>(count)) {
      host.kernel.begin_instant(host.clock.now());
      host.kernel.run_to_rest();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    state.SetIterationTime(took.count() / count);
    state.counters["cpu_us"] = (processor_seconds() - used) / count * 1e6;
  }
}
BENCHMARK(ReportsOfAPlugin)
    ->Arg(10'000)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMicrosecond);

/// 100 workloads wait for a plugin that takes so many milliseconds to begin each, while another
/// user creates workloads without checks, one after the other. Time per create, until it is in the
/// store; the longest is shown too.
void WritesBesideASlowPlugin(benchmark::State& state) {
  constexpr int kWrites = 200;
  for (auto _ : state) {
    CheckHost host(static_cast<int>(state.range(0)));
    ControlLoop loop(host.machine, host.store, host.clock);
    host.plugins->plugins().set_wake([&loop] { loop.wake(); });
    loop.start();
    loop.post([&host](ObjectAccess&) {
      for (int i = 0; i < 100; ++i)
        host.apply(CheckHost::workload("w" + std::to_string(i), "checked"));
    });
    std::vector<double> waits;
    for (int i = 0; i < kWrites; ++i) {
      const auto began = std::chrono::steady_clock::now();
      const auto done = loop.run_and_wait([&host, i](ObjectAccess&) {
        host.apply(CheckHost::workload("free" + std::to_string(i), "free"));
      });
      if (!done) fail(done.error().text);
      waits.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    loop.stop();
    host.plugins->plugins().set_wake({});
    std::sort(waits.begin(), waits.end());
    state.SetIterationTime(waits[kWrites / 2]);
    state.counters["p90_ms"] = waits[kWrites * 9 / 10] * 1e3;
    state.counters["longest_ms"] = waits.back() * 1e3;
    state.counters["begun"] = static_cast<double>(host.calls("check-controller.begin"));
  }
}
BENCHMARK(WritesBesideASlowPlugin)
    ->Arg(0)
    ->Arg(5)
    ->Arg(50)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sluice::host
