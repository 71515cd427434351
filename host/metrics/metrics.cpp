#include "host/metrics/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>

namespace sluice::host {
namespace {

/// Every metric but the build's has the role of the replica as a label.
constexpr const char* kRole = "replica_role";
constexpr const char* kRoles[] = {"standalone", "leader", "follower"};

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

/// Metrics with the same first labels stand beside each other in the order of these texts.
std::string text_of(const MetricLabels& labels) {
  std::string out;
  for (const auto& [name, value] : labels)
    out.append(name).append(1, '\0').append(value).append(1, '\0');
  return out;
}

/// Metrics of one type: families by name, and each metric by its name and the values of its labels,
/// so that one that is known is found without making its labels. Guarded by State::mutex.
template <typename Metric>
class Known {
 public:
  /// build() makes the family, add(family) the metric.
  template <typename Build, typename Add>
  Metric& find(std::string_view name, const MetricLabels& labels, const Build& build,
               const Add& add) {
    key_ = name;
    for (const auto& label : labels) key_.append(1, '\0').append(label.second);
    Metric*& metric = metrics_[key_];
    if (metric) return *metric;
    Family*& family = families_[std::string(name)];
    if (!family) family = &build();
    metric = &add(*family);
    by_labels_[text_of(labels).append(name)] = {family, key_};
    return *metric;
  }

  void forget(const MetricLabels& first) {
    const std::string begin = text_of(first);
    auto it = by_labels_.lower_bound(begin);
    while (it != by_labels_.end() && it->first.starts_with(begin)) {
      const auto found = metrics_.find(it->second.key);
      it->second.family->Remove(found->second);
      metrics_.erase(found);
      it = by_labels_.erase(it);
    }
  }

  void add_values_of(std::string_view label, std::set<std::string>& out) const {
    const std::string begin = std::string(label) + '\0';
    for (auto it = by_labels_.lower_bound(begin);
         it != by_labels_.end() && it->first.starts_with(begin);) {
      const std::string value =
          it->first.substr(begin.size(), it->first.find('\0', begin.size()) - begin.size());
      it = by_labels_.lower_bound(begin + value + '\1');
      out.insert(value);
    }
  }

 private:
  using Family = prometheus::Family<Metric>;
  struct Place {
    Family* family = nullptr;
    std::string key;  // in metrics_
  };
  std::unordered_map<std::string, Family*> families_;
  std::unordered_map<std::string, Metric*> metrics_;
  std::map<std::string, Place> by_labels_;  // by text_of() and the name
  std::string key_;                         // reused
};

}  // namespace

struct HostMetrics::State {
  std::atomic<Replica> replica = Replica::kStandalone;
  prometheus::Registry registry;
  std::mutex mutex;
  Known<prometheus::Counter> counters;
  Known<prometheus::Histogram> histograms;

  prometheus::Counter& counter(std::string_view name, std::string_view help,
                               const MetricLabels& labels) {
    const std::lock_guard lock(mutex);
    return counters.find(
        name, labels,
        [&]() -> auto& {
          return prometheus::BuildCounter()
              .Name(std::string(name))
              .Help(std::string(help))
              .Register(registry);
        },
        [&](auto& family) -> auto& {
          return family.Add({labels.begin(), labels.end()});
        });
  }
  prometheus::Histogram& histogram(std::string_view name, std::string_view help,
                                   const MetricLabels& labels, Buckets buckets) {
    const std::lock_guard lock(mutex);
    return histograms.find(
        name, labels,
        [&]() -> auto& {
          return prometheus::BuildHistogram()
              .Name(std::string(name))
              .Help(std::string(help))
              .Register(registry);
        },
        [&](auto& family) -> auto& {
          return family.Add({labels.begin(), labels.end()}, bounds_of(buckets));
        });
  }
};

HostMetrics::HostMetrics() : state_(std::make_unique<State>()) {}
HostMetrics::~HostMetrics() = default;

void HostMetrics::forget(const MetricLabels& first) {
  const std::lock_guard lock(state_->mutex);
  state_->counters.forget(first);
  state_->histograms.forget(first);
}

std::set<std::string> HostMetrics::values_of(std::string_view label) const {
  std::set<std::string> out;
  const std::lock_guard lock(state_->mutex);
  state_->counters.add_values_of(label, out);
  state_->histograms.add_values_of(label, out);
  return out;
}

void HostMetrics::set_replica(Replica replica) { state_->replica = replica; }

std::function<void(double)> HostMetrics::counter(std::string_view name, std::string_view help,
                                                 const MetricLabels& labels) {
  return [&counter = state_->counter(name, help, labels)](double by) { counter.Increment(by); };
}

std::function<void(double)> HostMetrics::histogram(std::string_view name, std::string_view help,
                                                   const MetricLabels& labels, Buckets buckets) {
  return [&histogram = state_->histogram(name, help, labels, buckets)](double value) {
    histogram.Observe(value);
  };
}

void HostMetrics::count(std::string_view name, std::string_view help, const MetricLabels& labels,
                        double by) {
  state_->counter(name, help, labels).Increment(by);
}

void HostMetrics::observe(std::string_view name, std::string_view help, const MetricLabels& labels,
                          double value, Buckets buckets) {
  state_->histogram(name, help, labels, buckets).Observe(value);
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
      for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
      (reading.counter ? metric.counter.value : metric.gauge.value) = sample.value;
    }
  }
  const char* const role = kRoles[static_cast<std::size_t>(state_->replica.load())];
  for (prometheus::MetricFamily& family : families) {
    if (family.name == "kueue_build_info" || family.name.starts_with("process_")) continue;
    for (prometheus::ClientMetric& metric : family.metric)
      metric.label.insert(metric.label.begin(), {kRole, role});
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace sluice::host
