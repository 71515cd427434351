// MetricsRegistry: the counters and gauges that plugins register, in memory.
//
// A metric is (plugin, name); its values are whole numbers per set of label values. Registration is
// idempotent. Series are kept for good, so they are limited: in number, in the length of a label's
// value, and in bytes over all metrics of a plugin. All members may be called from any thread; they
// take a short lock of their own.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice::host {

struct MetricSpec {
  bool gauge = false;
  bool nanoseconds = false;  ///< to be exported as seconds
  std::string plugin, name, help;
  std::vector<std::string> labels;
  bool in_full = false;  ///< the name is exported as it is
};

struct MetricSnapshot {
  MetricSpec spec;
  std::vector<std::pair<std::vector<std::string>, std::int64_t>> values;  ///< by label values
};

class MetricsRegistry {
 public:
  static constexpr std::size_t kMaxLabels = 8;
  static constexpr std::size_t kMaxMetricsPerPlugin = 256;
  static constexpr std::size_t kMaxSeriesPerMetric = 10'000;
  static constexpr std::size_t kMaxValueBytes = 128;
  static constexpr std::size_t kMaxBytesPerPlugin = std::size_t{4} << 20;

  /// nullopt: a malformed name or one that is not the plugin's to take, too many labels or metrics,
  /// or registered differently before.
  std::optional<std::uint32_t> add_metric(const MetricSpec& spec);
  /// False when the number is not this plugin's or the count of values is wrong, a counter would
  /// go down, or there are too many series or too long values.
  bool add(std::uint32_t metric, const std::string& plugin, std::vector<std::string> values,
           std::int64_t delta);
  bool set(std::uint32_t metric, const std::string& plugin, std::vector<std::string> values,
           std::int64_t value);

  /// Whether nobody asked this about the plugin before: what is refused is told once.
  bool first_refusal(const std::string& plugin);

  std::vector<MetricSnapshot> snapshot() const;

 private:
  struct Metric {
    MetricSpec spec;
    std::map<std::vector<std::string>, std::int64_t> values;
  };
  std::int64_t* value(std::uint32_t metric, const std::string& plugin,
                      std::vector<std::string>&& values, bool gauge_only);

  mutable std::mutex mutex_;
  std::vector<Metric> metrics_;               // guarded by mutex_, as all below
  std::map<std::string, std::size_t> bytes_;  // of series, by plugin
  std::set<std::string> refused_;             // plugins
};

}  // namespace sluice::host
