// What single steps of the engine cost, on inputs that make one of them dominate.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"

namespace sluice {
namespace {

constexpr std::int64_t kCpu = 1000;  // the engine counts cpu in milli

struct QueueSpec {
  std::int64_t nominal_cpu = 0;
  api::Preemption preemption;
  std::string check;  ///< of all workloads, AdmissionCheck; empty: none
};

/// An engine with one flavor, one namespace `ns`, and equal queues q0 … in one cohort.
std::unique_ptr<Engine> engine_with_queues(int queues, const QueueSpec& spec,
                                           const EngineConfig& config) {
  auto engine = std::make_unique<Engine>(config, hooks::Hooks{});
  engine->begin_instant(0);
  api::Namespace ns;
  ns.meta.name = "ns";
  engine->apply(ns);
  api::ResourceFlavor flavor;
  flavor.meta.name = "default";
  engine->apply(flavor);
  api::AdmissionCheck check;
  check.meta.name = spec.check;
  if (!spec.check.empty()) engine->apply(check);
  for (int i = 0; i < queues; ++i) {
    api::ClusterQueue queue;
    queue.meta.name = "q" + std::to_string(i);
    queue.cohort = "all";
    queue.namespace_selector.emplace();
    queue.preemption = spec.preemption;
    if (!spec.check.empty()) queue.admission_checks = {{spec.check, {}}};
    api::ResourceQuota cpu{"cpu", api::Quantity::of_units(spec.nominal_cpu), {}, {}};
    queue.resource_groups = {{{"cpu"}, {{"default", {cpu}}}}};
    engine->apply(queue);
    api::LocalQueue local;
    local.meta.ns = "ns";
    local.meta.name = queue.meta.name;
    local.cluster_queue = queue.meta.name;
    engine->apply(local);
  }
  return engine;
}

void add_workload(Engine& engine, const std::string& name, int queue, std::int64_t cpu,
                  std::int32_t priority) {
  auto pod = std::make_shared<api::PodTemplate>();
  pod->requests = {{"cpu", cpu * kCpu}};
  pod->shape = "cpu=" + std::to_string(cpu);
  auto workload = std::make_shared<api::Workload>();
  workload->meta.ns = "ns";
  workload->meta.name = name;
  workload->meta.uid = name;
  workload->meta.creation_time = 0;
  workload->queue_name = "q" + std::to_string(queue);
  workload->priority = priority;
  workload->pod_sets.emplace_back();
  workload->pod_sets.back().pod = std::move(pod);
  engine.apply(std::move(workload));
}

/// Runs cycles until the instant is at rest; returns how many evictions there were.
std::size_t settle(Engine& engine) {
  std::vector<Decision> out;
  std::size_t evictions = 0;
  while (engine.step(out)) {
    for (const Decision& d : out) evictions += d.type == DecisionType::kEvicted ? 1 : 0;
  }
  return evictions;
}

/// The time of the next cycle alone.
void time_one_step(benchmark::State& state, Engine& engine) {
  std::vector<Decision> out;
  const auto start = std::chrono::steady_clock::now();
  engine.step(out);
  state.SetIterationTime(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  benchmark::DoNotOptimize(out);
}

/// One workload that needs half of what N lower ones hold: all N are candidates.
void preemption_candidates(benchmark::State& state) {
  const int victims = static_cast<int>(state.range(0));
  QueueSpec spec{victims, {}, {}};
  spec.preemption.within_cluster_queue = api::WithinClusterQueue::kLowerPriority;
  for (auto _ : state) {
    auto engine = engine_with_queues(1, spec, {});
    for (int i = 0; i < victims; ++i) add_workload(*engine, "low-" + std::to_string(i), 0, 1, 0);
    settle(*engine);
    engine->begin_instant(kSecond);
    add_workload(*engine, "high", 0, victims / 2, 10);
    time_one_step(state, *engine);
  }
}
BENCHMARK(preemption_candidates)
    ->Arg(100)
    ->Arg(10'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);

/// One cycle with a head in each of N queues of one cohort; everything fits.
void cycle_of_heads(benchmark::State& state, bool fair) {
  const int queues = static_cast<int>(state.range(0));
  EngineConfig config;
  config.fair_sharing = fair;
  for (auto _ : state) {
    auto engine = engine_with_queues(queues, {4, {}, {}}, config);
    settle(*engine);  // builds the quota tree, which is not what is measured
    engine->begin_instant(kSecond);
    for (int i = 0; i < queues; ++i) {
      add_workload(*engine, "w-" + std::to_string(i), i, 1 + i % 6, i % 3);
    }
    time_one_step(state, *engine);
  }
}
BENCHMARK_CAPTURE(cycle_of_heads, classical, false)
    ->Arg(100)
    ->Arg(1000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20);
BENCHMARK_CAPTURE(cycle_of_heads, fair_sharing, true)
    ->Arg(100)
    ->Arg(1000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20);

/// Workloads that wait for their check are told Ready and admitted after the second look: all in
/// one instant, or each in one of its own. Time per answer.
void answers_of_checks(benchmark::State& state, bool at_once) {
  constexpr int kQueues = 100;
  const auto count = static_cast<int>(state.range(0));
  for (auto _ : state) {
    auto engine = engine_with_queues(kQueues, {count, {}, "check"}, EngineConfig{});
    for (int i = 0; i < count; ++i)
      add_workload(*engine, "w" + std::to_string(i), i % kQueues, 1, 0);
    settle(*engine);
    api::AdmissionCheckState ready;
    ready.name = "check";
    ready.state = "Ready";
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      static_cast<void>(engine->report("ns/w" + std::to_string(i), ready));
      if (!at_once) settle(*engine);
    }
    if (at_once) settle(*engine);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(took.count() / count);
    if (engine->stats().admissions != static_cast<std::uint64_t>(count))
      state.SkipWithError("not all were admitted");
  }
}
BENCHMARK_CAPTURE(answers_of_checks, one_instant, true)
    ->Arg(10'000)
    ->UseManualTime()
    ->Iterations(5)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(answers_of_checks, each_its_own, false)
    ->Arg(10'000)
    ->UseManualTime()
    ->Iterations(5)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sluice
