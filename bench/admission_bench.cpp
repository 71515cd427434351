// Durable admissions: workloads that wait for a stopped queue, and the time from its resume until
// the admission of each is on the disk. No network and no plugins: the engine, the texts, the
// store.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <future>
#include <string>

#include "bench/folder.hpp"
#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"
#include "host/store/sqlite_journal.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kStepsOfATurn = 16;  // between two commits; a host goes by the time

std::string folder() { return bench::folder("admission-bench"); }

std::unique_ptr<Journal> new_journal() {
  std::filesystem::remove_all(folder());
  auto journal = SqliteJournal::open(folder());
  SLUICE_CHECK(journal.ok(), journal.ok() ? "" : journal.error().text);
  return std::move(journal).value();
}

constexpr const char* kSetUp[] = {
    R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})",
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",
        "metadata":{"name":"f"}})"};

std::string queue(int number, bool stopped) {
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
      "metadata":{{"name":"cq-{}"}},"spec":{{"namespaceSelector":{{}},"stopPolicy":"{}",
      "resourceGroups":[{{"coveredResources":["cpu"],"flavors":[{{"name":"f","resources":[
          {{"name":"cpu","nominalQuota":"1000000"}}]}}]}}]}}}})",
      number, stopped ? "Hold" : "None");
}

std::string local_queue(int number) {
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
      "metadata":{{"name":"q-{0}","namespace":"default"}},
      "spec":{{"clusterQueue":"cq-{0}"}}}})",
      number);
}

std::string workload(std::int64_t number, int queues) {
  return fmt::format(
      R"({{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
      "metadata":{{"name":"w{}","namespace":"default"}},
      "spec":{{"queueName":"q-{}","podSets":[{{"name":"main","count":3,"template":{{"spec":{{
        "restartPolicy":"Never","containers":[{{"name":"c","image":"i","command":["train","{}"],
        "resources":{{"requests":{{"cpu":"1"}}}}}}]}}}}}}]}}}})",
      number, number % queues, number);
}

/// A host below its API server, with a store on the disk.
class DurableHost {
 public:
  void create(const std::string& text) {
    check(access().create(boost::json::parse(text).get_object()));
  }
  void update(const std::string& text) {
    check(access().update(boost::json::parse(text).get_object()));
  }

  /// Turns until there is nothing to do, each with a commit; until the last one is on the disk.
  void rest() {
    for (bool at_rest = false; !at_rest;) {
      at_rest = machine_.kernel().run(kStepsOfATurn);
      store_.commit([](const Result<void>& done) { SLUICE_CHECK(done.ok(), "not durable"); });
    }
    std::promise<void> durable;
    store_.commit([&](const Result<void>&) { durable.set_value(); });
    durable.get_future().wait();
  }

  void begin() { machine_.begin_instant(*parse_time("2026-01-01T00:00:00Z")); }
  std::size_t admitted() {
    std::size_t out = 0;
    const Engine& engine = machine_.kernel().engine();
    for (const WorkloadId id : engine.workloads())
      out += engine.state(id) == WorkloadState::kAdmitted ? 1 : 0;
    return out;
  }

 private:
  ObjectAccess& access() { return machine_.objects(); }
  static void check(const ApiResult<void>& done) {
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
  }

  Configuration configuration_;
  VirtualClock clock_;
  std::unique_ptr<Rules> rules_ = Rules::without_plugins(clock_);
  LiveStore store_{rules_->scheme, new_journal()};
  CountingIds ids_;
  Machine machine_{configuration_, *rules_, {.store = store_, .ids = ids_, .controllers = false}};
};

void Admissions(benchmark::State& state) {
  const std::int64_t workloads = state.range(0);
  const int queues = static_cast<int>(state.range(1));
  for (auto _ : state) {
    state.PauseTiming();
    DurableHost host;
    host.begin();
    for (const char* object : kSetUp) host.create(object);
    for (int i = 0; i < queues; ++i) {
      host.create(queue(i, true));
      host.create(local_queue(i));
    }
    for (std::int64_t i = 0; i < workloads; ++i) host.create(workload(i, queues));
    host.rest();
    SLUICE_CHECK(host.admitted() == 0, "a stopped queue admitted ", host.admitted());
    state.ResumeTiming();
    for (int i = 0; i < queues; ++i) host.update(queue(i, false));
    host.rest();
    state.PauseTiming();
    SLUICE_CHECK(host.admitted() == static_cast<std::size_t>(workloads), "admitted ",
                 host.admitted());
    state.ResumeTiming();
  }
  state.counters["admissions/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * workloads), benchmark::Counter::kIsRate);
}
BENCHMARK(Admissions)
    ->Args({50'000, 10})
    ->Args({50'000, 1000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(2);

}  // namespace
}  // namespace sluice::host

BENCHMARK_MAIN();
