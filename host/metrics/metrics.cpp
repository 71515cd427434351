#include "host/metrics/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <unordered_map>

namespace sluice::host {
namespace {

/// Every metric but the build's says which replica speaks; there is one.
constexpr const char* kRole = "replica_role";

prometheus::Labels with_role(const MetricLabels& labels) {
  prometheus::Labels out{{kRole, "standalone"}};
  for (const auto& [name, value] : labels) out[name] = value;
  return out;
}

std::vector<double> bounds_of(Buckets buckets) {
  if (buckets == Buckets::kDefault) {
    return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  }
  if (buckets == Buckets::kCounts) return {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 10'000};
  const int count = buckets == Buckets::kFourteen ? 14 : 16;
  std::vector<double> out{1};
  for (double bound = 2.5; static_cast<int>(out.size()) < count; bound *= 2) out.push_back(bound);
  return out;
}

}  // namespace

struct HostMetrics::State {
  prometheus::Registry registry;
  std::mutex mutex;  // guards the maps; the families have locks of their own
  std::unordered_map<std::string, prometheus::Family<prometheus::Counter>*> counters;
  std::unordered_map<std::string, prometheus::Family<prometheus::Histogram>*> histograms;
};

HostMetrics::HostMetrics() : state_(std::make_unique<State>()) {}
HostMetrics::~HostMetrics() = default;

std::function<void(double)> HostMetrics::counter(std::string_view name, std::string_view help,
                                                 const MetricLabels& labels) {
  prometheus::Family<prometheus::Counter>* family = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    auto& known = state_->counters[std::string(name)];
    if (!known) {
      known = &prometheus::BuildCounter()
                   .Name(std::string(name))
                   .Help(std::string(help))
                   .Register(state_->registry);
    }
    family = known;
  }
  prometheus::Counter& counter = family->Add(with_role(labels));
  return [&counter](double by) { counter.Increment(by); };
}

std::function<void(double)> HostMetrics::histogram(std::string_view name, std::string_view help,
                                                   const MetricLabels& labels, Buckets buckets) {
  prometheus::Family<prometheus::Histogram>* family = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    auto& known = state_->histograms[std::string(name)];
    if (!known) {
      known = &prometheus::BuildHistogram()
                   .Name(std::string(name))
                   .Help(std::string(help))
                   .Register(state_->registry);
    }
    family = known;
  }
  prometheus::Histogram& histogram = family->Add(with_role(labels), bounds_of(buckets));
  return [&histogram](double value) { histogram.Observe(value); };
}

void HostMetrics::count(std::string_view name, std::string_view help, const MetricLabels& labels,
                        double by) {
  counter(name, help, labels)(by);
}

void HostMetrics::observe(std::string_view name, std::string_view help, const MetricLabels& labels,
                          double value, Buckets buckets) {
  histogram(name, help, labels, buckets)(value);
}

std::string HostMetrics::text(const std::vector<Reading>& readings) const {
  std::vector<prometheus::MetricFamily> families = state_->registry.Collect();
  for (const Reading& reading : readings) {
    if (reading.samples.empty()) continue;
    prometheus::MetricFamily& family = families.emplace_back();
    family.name = reading.name;
    family.help = reading.help;
    family.type = reading.counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
    for (const Reading::Sample& sample : reading.samples) {
      prometheus::ClientMetric& metric = family.metric.emplace_back();
      const bool plain = reading.name == "kueue_build_info" || reading.name.starts_with("process_");
      if (!plain) metric.label.push_back({kRole, "standalone"});
      for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
      (reading.counter ? metric.counter.value : metric.gauge.value) = sample.value;
    }
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace sluice::host
