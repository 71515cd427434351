// What a call costs when the plugin has a process of its own, beside the same call inside of the
// host: a check that begins and is answered, and one that is cancelled, a small call. The goal is
// 60 µs over the socket.
//
// The program runs the isolated library itself, as `sluice plugin run` does.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "host/plugins/plugin_set.hpp"
#include "host/plugins/process/runner.hpp"

namespace sluice::host {
namespace {

constexpr const char* kCheck =
    R"({"metadata":{"name":"c"},"spec":{"controllerName":"example.com/bench"}})";

std::unique_ptr<PluginSet> loaded(const PluginClock& clock, bool isolated) {
  PluginSetConfig config;
  config.directory = SLUICE_BENCH_PLUGINS;
  config.plugins = {{"bench-ready", true, FailurePolicy::kClosed, "", "{}"}};
  if (isolated) config.plugins[0].process.emplace();
  config.clock = &clock;
  auto set = PluginSet::load(config);
  if (!set.ok() || !(*set)->activate().ok()) {
    std::fprintf(stderr, "error: %s\n", set.ok() ? "activate" : set.error().text.c_str());
    std::exit(1);
  }
  return std::move(set).value();
}

/// A check begins, and is reported Ready within the call. `range(0)`: 1: in a process.
void BeginCheck(benchmark::State& state) {
  const SystemPluginClock clock;
  const auto set = loaded(clock, state.range(0) == 1);
  auto workload = std::make_shared<api::Workload>();
  workload->meta.ns = "a";
  workload->meta.name = "w";
  workload->meta.uid = "u";
  workload->pod_sets.resize(1);
  CheckQuery query;
  query.workload = workload;
  query.workload_json =
      R"({"metadata":{"namespace":"a","name":"w","uid":"u","labels":{"app":"train"}},)"
      R"("spec":{"queueName":"q","podSets":[{"name":"main","count":4,"template":{"spec":)"
      R"({"containers":[{"name":"c","image":"x","resources":{"requests":{"cpu":"1"}}}]}}}]}})";
  query.check = "c";
  query.check_json = kCheck;
  for (auto _ : state) {
    ++query.attempt;
    if (!set->check_controllers().begin(query)) state.SkipWithError("not begun");
    benchmark::DoNotOptimize(set->check_controllers().take_reports());
  }
}
BENCHMARK(BeginCheck)->Arg(0)->Arg(1)->UseRealTime();

void CancelCheck(benchmark::State& state) {
  const SystemPluginClock clock;
  const auto set = loaded(clock, state.range(0) == 1);
  CheckQuery query;
  query.workload = std::make_shared<api::Workload>();
  query.check = "c";
  query.check_json = kCheck;
  for (auto _ : state) set->check_controllers().cancel(query, "Evicted");
}
BENCHMARK(CancelCheck)->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace sluice::host

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "plugin" && std::string(argv[2]) == "run")
    return sluice::host::run_plugin(argv[3]).ok() ? 0 : 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
