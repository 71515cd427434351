// How long a restart takes once the rows are in memory: N workloads of a store are handed to the
// index and the engine. And how long a question takes: the same, and a write.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <future>

#include "host/whatif/fork.hpp"
#include "host/whatif/what_if.hpp"
#include "tests/host/whatif/everybody.hpp"
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

std::string workload(std::int64_t i) {
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
      "metadata":{{"name":"w{}","namespace":"default","labels":{{"team":"a"}}}},
      "spec":{{"queueName":"q","podSets":[{{"name":"main","count":3,"template":{{"spec":{{
        "restartPolicy":"Never","containers":[{{"name":"c","image":"i","command":["train","{}"],
        "resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}]}}}})",
      i, i);
}

void fill(HostFixture& host, std::int64_t workloads) {
  for (const char* object : kSetUp) host.apply(object);
  for (std::int64_t i = 0; i < workloads; ++i) host.apply(workload(i));
}

/// On the heap and not given back.
double allocated_mib() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / (1 << 20);
}

void load(benchmark::State& state) {
  HostFixture host;
  fill(host, state.range(0));
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
void publish(HostFixture& host) {
  host.kernel.run_to_rest();
  std::promise<void> published;
  host.store.commit([&](const Result<void>&) { published.set_value(); });
  published.get_future().wait();
}

/// When the first hundred of a queue of so many would start, from past run times: as many plays as
/// the time allows, each with a fork of its own.
void ask_queue(benchmark::State& state) {
  HostFixture host;
  fill(host, state.range(0));
  publish(host);
  const Everybody everybody;
  double control_ms = 0;
  const HostWhatIf service(
      {host.configuration, *host.rules, host.store}, everybody,
      [&]() -> Result<ForkMoment> {
        const auto began = std::chrono::steady_clock::now();
        ForkMoment out{.now = host.now,
                       .version = host.store.version(),
                       .memory = host.machine.engine().memory()};
        const std::chrono::duration<double, std::milli> held =
            std::chrono::steady_clock::now() - began;
        control_ms = held.count();
        return out;
      },
      [] {
        PastRunTimes past;
        for (int i = 1; i <= 30; ++i) past["default/q"].push_back(i * 60 * kSecond);
        return past;
      });
  const boost::json::value question = boost::json::parse(
      R"({"apiVersion":"sluice.dev/v1alpha1","kind":"WhatIf",
          "spec":{"waiting":{"clusterQueue":"cq"}}})");
  for (auto _ : state) {
    const auto began = std::chrono::steady_clock::now();
    const auto answer = service.answer({{"somebody", "", {}}, question.as_object()},
                                       began + std::chrono::seconds(30));
    SLUICE_CHECK(answer.ok(), answer.ok() ? "" : answer.error().text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    state.SetIterationTime(took.count());
    const auto& told = answer->at("status").at("workloads").as_array();
    state.counters["told"] = static_cast<double>(told.size());
    state.counters["plays"] =
        static_cast<double>(told.at(0).at("start").at("plays").to_number<std::int64_t>());
    state.counters["control_ms"] = control_ms;
  }
}

/// A question to a host with so many workloads, answered from a fork; memory is what the fork took.
void ask(benchmark::State& state) {
  HostFixture host;
  fill(host, state.range(0));
  publish(host);
  const ForkSource source{host.configuration, *host.rules, host.store};
  for (auto _ : state) {
    const auto began = std::chrono::steady_clock::now();
    const EngineMemory memory = host.machine.engine().memory();
    const std::chrono::duration<double, std::milli> held = std::chrono::steady_clock::now() - began;
    const double before = allocated_mib();
    auto fork =
        Fork::make(source, {.now = host.now, .version = host.store.version(), .memory = memory},
                   Deadline::max());
    SLUICE_CHECK(fork.ok(), fork.error().text);
    SLUICE_CHECK((*fork)
                     ->machine()
                     .write(host.request(WriteVerb::kCreate, "workloads", "", workload(-1)))
                     .ok(),
                 "refused");
    SLUICE_CHECK((*fork)->run_to_rest(Deadline::max()).ok(), "no end");
    state.counters["MiB"] = allocated_mib() - before;
    state.counters["control_ms"] = held.count();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    state.SetIterationTime(took.count());
  }
}

BENCHMARK(ask)->Arg(100'000)->Unit(benchmark::kMillisecond)->Iterations(3)->UseManualTime();
BENCHMARK(ask_queue)->Arg(100'000)->Unit(benchmark::kMillisecond)->Iterations(3)->UseManualTime();
BENCHMARK(load)->Arg(200'000)->Unit(benchmark::kMillisecond)->Iterations(3)->UseManualTime();

}  // namespace
}  // namespace sluice::host::test

BENCHMARK_MAIN();
