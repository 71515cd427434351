// How long a restart takes once the rows are in memory: N workloads of a store are handed to the
// index and the engine.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <chrono>

#include "tests/host/writes/host_fixture.hpp"

namespace sluice::host::test {
namespace {

constexpr const char* kSetUp[] = {
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},
        "spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[
          {"name":"f","resources":[{"name":"cpu","nominalQuota":"1000"}]}]}]}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
        "metadata":{"name":"q","namespace":"default"},"spec":{"clusterQueue":"cq"}})"};

void load(benchmark::State& state) {
  HostFixture host;
  for (const char* object : kSetUp) host.apply(object);
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    host.apply(fmt::format(
        R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
        "metadata":{{"name":"w{}","namespace":"default","labels":{{"team":"a"}}}},
        "spec":{{"queueName":"q","podSets":[{{"name":"main","count":3,"template":{{"spec":{{
          "restartPolicy":"Never","containers":[{{"name":"c","image":"i","command":["train","{}"],
          "resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}]}}}})",
        i, i));
  }
  for (auto _ : state) {
    Machine machine(host.configuration, *host.rules,
                    {.store = host.store, .ids = host.ids, .controllers = false});
    machine.begin_instant(host.now);
    const auto began = std::chrono::steady_clock::now();
    machine.load();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    state.SetIterationTime(took.count());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(load)->Arg(200'000)->Unit(benchmark::kMillisecond)->Iterations(3)->UseManualTime();

}  // namespace
}  // namespace sluice::host::test

BENCHMARK_MAIN();
