// Reading manifests: a List of workloads as JSON, some of it as YAML. Look at bytes per second.
#include <benchmark/benchmark.h>

#include "host/manifests/manifests.hpp"

namespace sluice::host {
namespace {

constexpr const char* kItem =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w-001",)"
    R"("namespace":"ns","uid":"uid-779858-001","creationTimestamp":"2026-01-01T00:01:40Z"},)"
    R"("spec":{"queueName":"lq-3","priority":100,"active":true,"podSets":[{"name":"p0","count":2,)"
    R"("template":{"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":)"
    R"({"cpu":"2","memory":"1Gi"}}}],"restartPolicy":"Never"}},"minCount":1}]}})";

void read_all(benchmark::State& state, const std::string& text, const char* name) {
  std::size_t documents = 0;
  for (auto _ : state) {
    const auto loaded = load_text(text, name, {}, [&](Document&&) -> Result<void> {
      ++documents;
      return {};
    });
    if (!loaded) state.SkipWithError(loaded.error().text.c_str());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  benchmark::DoNotOptimize(documents);
}

void JsonList(benchmark::State& state) {
  std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
  text += kItem;
  while (text.size() < (30u << 20)) text += std::string(",") + kItem;
  read_all(state, text + "]}", "list.json");
}
BENCHMARK(JsonList)->Unit(benchmark::kMillisecond);

void YamlDocuments(benchmark::State& state) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string("---\n") + kItem + "\n";
  read_all(state, text, "documents.yaml");
}
BENCHMARK(YamlDocuments)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sluice::host
