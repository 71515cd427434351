// What a hook costs through the C interface: bridge, measuring, counting, guard, and back.
//
// SLUICE_BENCH_PLUGINS names a folder with another bench-idle.so, such as the one in Rust
// (sdk/rust/examples/bench_idle.rs), which is no check controller.
//
// The plugin does next to nothing. `Search` hooks carry plain numbers; Filter and Veto also look
// at the workload through an accessor.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "host/plugins/plugin_set.hpp"

namespace sluice::host {
namespace {

struct Fixture {
  SystemPluginClock clock;
  std::unique_ptr<PluginSet> set;
  hooks::HostHooks hooks;
  api::Workload workload;

  Fixture() {
    PluginSetConfig config;
    const char* folder = std::getenv("SLUICE_BENCH_PLUGINS");
    config.directory = folder == nullptr ? SLUICE_BENCH_PLUGINS : folder;
    config.plugins = {{"bench-idle", true, FailurePolicy::kClosed, "", "{}"}};
    config.clock = &clock;
    auto loaded = PluginSet::load(config);
    if (!loaded.ok() || !(*loaded)->activate().ok()) {
      std::fprintf(stderr, "error: %s\n", loaded.ok() ? "activate" : loaded.error().text.c_str());
      std::exit(1);
    }
    set = std::move(loaded).value();
    hooks = set->hooks();
    workload.pod_sets.resize(1);
  }
};

Fixture& fixture() {
  static Fixture only;
  return only;
}

void AfterFlavor(benchmark::State& state) {
  const auto* search = fixture().hooks.flavor_search;
  hooks::Fault fault;
  const hooks::SearchStep step{0, {hooks::Mode::kPreempt, 1}, true, {hooks::Mode::kFit, 0}};
  for (auto _ : state) benchmark::DoNotOptimize(search->after_flavor(step, fault));
}
BENCHMARK(AfterFlavor)->ThreadRange(1, 2);

void Better(benchmark::State& state) {
  const auto* search = fixture().hooks.flavor_search;
  hooks::Fault fault;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        search->better(0, {hooks::Mode::kPreempt, 1}, {hooks::Mode::kFit, 0}, fault));
}
BENCHMARK(Better)->ThreadRange(1, 2);

void KeepPosition(benchmark::State& state) {
  const auto* search = fixture().hooks.flavor_search;
  hooks::Fault fault;
  for (auto _ : state) benchmark::DoNotOptimize(search->keep_position({0, 1, 0, 0}, fault));
}
BENCHMARK(KeepPosition);

void Filter(benchmark::State& state) {
  const Fixture& f = fixture();
  const std::vector<std::string_view> flavors(static_cast<std::size_t>(state.range(0)), "spot");
  hooks::FilterAnswer answer{
      std::vector<std::uint8_t>(flavors.size(), 0), std::vector<std::string>(flavors.size()), {}};
  hooks::Fault fault;
  for (auto _ : state) f.hooks.flavor_filter->filter({f.workload, 0, 0, flavors}, answer, fault);
}
BENCHMARK(Filter)->Arg(1)->Arg(4)->Arg(16);

void Veto(benchmark::State& state) {
  const Fixture& f = fixture();
  const std::vector<const api::Workload*> candidates(static_cast<std::size_t>(state.range(0)),
                                                     &f.workload);
  hooks::VetoAnswer answer;
  answer.protected_.resize(candidates.size());
  hooks::Fault fault;
  for (auto _ : state) f.hooks.preemption_veto->veto({f.workload, 0, candidates}, answer, fault);
}
BENCHMARK(Veto)->Arg(0)->Arg(16);

}  // namespace
}  // namespace sluice::host
