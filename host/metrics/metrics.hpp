// HostMetrics: what Prometheus reads: counters and histograms that grow as things happen, and
// gauges that are taken when /metrics is read.
//
// Names, labels and buckets of kueue_* are Kueue's, so that dashboards made for it work;
// docs/metrics.md lists all. Counters belong to the process: they survive a reload. All members may
// be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::host {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// Values of one moment, ready to be shown.
struct Reading {
  std::string name, help;
  bool counter = false;  ///< else a gauge
  struct Sample {
    MetricLabels labels;
    double value = 0;
  };
  std::vector<Sample> samples;
};

/// Which histogram a time goes to: Kueue's buckets differ.
enum class Buckets : std::uint8_t {
  kDefault,   ///< 5 ms to 10 s, as most tools have it
  kFourteen,  ///< 1, 2.5, 5, 10, … s, fourteen of them
  kSixteen,
  kCounts,  ///< 1 to 10,000 of something
};

/// What the process is among those that do the same, as Kueue calls it.
enum class Replica : std::uint8_t { kStandalone, kLeader, kFollower };

class HostMetrics {
 public:
  HostMetrics();
  ~HostMetrics();

  /// What every metric but the build's says of it from now on; else that there is one process.
  void set_replica(Replica replica);

  /// Adds one to a counter, which is made at first use. A name has always the same label names.
  void count(std::string_view name, std::string_view help, const MetricLabels& labels,
             double by = 1);
  /// Takes a time in seconds (or a count) into a histogram.
  void observe(std::string_view name, std::string_view help, const MetricLabels& labels,
               double value, Buckets buckets);

  /// The same for one set of labels that is used again and again. Valid as long as this is, and no
  /// longer than until it is forgotten.
  std::function<void(double by)> counter(std::string_view name, std::string_view help,
                                         const MetricLabels& labels);
  std::function<void(double value)> histogram(std::string_view name, std::string_view help,
                                              const MetricLabels& labels, Buckets buckets);

  /// Takes away what was counted and timed of something that is gone: all whose labels begin with
  /// these. O(log n) for each.
  void forget(const MetricLabels& first);
  /// The values of this label of all that have it as their first, in order.
  std::set<std::string> values_of(std::string_view label) const;

  /// The text format, version 0.0.4: everything counted, and these readings.
  std::string text(const std::vector<Reading>& readings) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
