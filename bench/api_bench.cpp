// What one write costs before the engine sees it: parse, default, validate, decode.
#include <benchmark/benchmark.h>

#include <boost/json/parse.hpp>

#include "api/codec/codec.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::api {
namespace {

constexpr const char* kWorkload =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w-001",
    "namespace":"ns","uid":"uid-779858-001","creationTimestamp":"2026-01-01T00:01:40Z"},
    "spec":{"queueName":"lq-3","priority":100,"active":true,"podSets":[{"name":"p0","count":2,
    "template":{"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":
    {"cpu":"2","memory":"1Gi"}}}],"nodeSelector":{"zone":"a"},"tolerations":[{"key":"spot",
    "operator":"Equal","value":"true","effect":"NoSchedule"}],"restartPolicy":"Never"}},
    "minCount":1}]}})";

boost::json::object workload() { return boost::json::parse(kWorkload).as_object(); }

void Parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(boost::json::parse(kWorkload));
}
BENCHMARK(Parse);

/// A workload that is complete already: the defaults have nothing to add.
void Admit(benchmark::State& state) {
  const Scheme scheme;
  auto object = workload();
  for (auto _ : state) benchmark::DoNotOptimize(scheme.admit(object).ok());
}
BENCHMARK(Admit);

void Decode(benchmark::State& state) {
  const Scheme scheme;
  PodTemplateCache templates;
  auto object = workload();
  const Workload keep = decode_workload(object, templates, scheme);
  for (auto _ : state) benchmark::DoNotOptimize(decode_workload(object, templates, scheme));
}
BENCHMARK(Decode);

void DecodePodTemplate(benchmark::State& state) {
  const auto object = workload();
  const auto& pod = object.at("spec").at("podSets").at(0).at("template").as_object();
  for (auto _ : state) benchmark::DoNotOptimize(decode_pod_template(pod));
}
BENCHMARK(DecodePodTemplate);

void ParseQuantity(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Quantity::parse("1500m"));
}
BENCHMARK(ParseQuantity);

void MakeScheme(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Scheme());
}
BENCHMARK(MakeScheme)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sluice::api
