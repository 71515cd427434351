#include "host/plugins/metrics.hpp"

#include <algorithm>

namespace sluice::host {

namespace {

bool is_metric_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool same_shape(const MetricSpec& a, const MetricSpec& b) {
  return a.gauge == b.gauge && a.nanoseconds == b.nanoseconds && a.labels == b.labels &&
         a.in_full == b.in_full;
}

/// What a series takes in memory, roughly: a place in the map, and texts.
std::size_t bytes_of(const std::vector<std::string>& values) {
  std::size_t bytes = 96;
  for (const std::string& value : values) bytes += sizeof(std::string) + value.size();
  return bytes;
}

/// Names of the host's own metrics begin so.
bool is_of_host(std::string_view name) {
  return name.starts_with("sluice_") || name.starts_with("kueue_") || name.starts_with("process_");
}

}  // namespace

std::optional<std::uint32_t> MetricsRegistry::add_metric(const MetricSpec& spec) {
  if (!is_metric_name(spec.name) || spec.labels.size() > kMaxLabels ||
      !std::all_of(spec.labels.begin(), spec.labels.end(), is_metric_name) ||
      (spec.in_full && is_of_host(spec.name)))
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  std::size_t of_plugin = 0;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const MetricSpec& known = metrics_[i].spec;
    if (known.plugin != spec.plugin) {
      if (spec.in_full && known.in_full && known.name == spec.name) return std::nullopt;
      continue;
    }
    ++of_plugin;
    if (known.name != spec.name) continue;
    if (!same_shape(known, spec)) return std::nullopt;
    return static_cast<std::uint32_t>(i);
  }
  if (of_plugin >= kMaxMetricsPerPlugin) return std::nullopt;
  metrics_.push_back({spec, {}});
  if (spec.labels.empty()) metrics_.back().values[{}] = 0;  // shown before the first one is counted
  return static_cast<std::uint32_t>(metrics_.size() - 1);
}

std::int64_t* MetricsRegistry::value(std::uint32_t metric, const std::string& plugin,
                                     std::vector<std::string>&& values, bool gauge_only) {
  if (metric >= metrics_.size()) return nullptr;
  Metric& found = metrics_[metric];
  if (found.spec.plugin != plugin || values.size() != found.spec.labels.size()) return nullptr;
  if (gauge_only && !found.spec.gauge) return nullptr;
  if (const auto it = found.values.find(values); it != found.values.end()) return &it->second;
  if (found.values.size() >= kMaxSeriesPerMetric) return nullptr;
  for (const std::string& each : values)
    if (each.size() > kMaxValueBytes) return nullptr;
  std::size_t& used = bytes_[plugin];
  const std::size_t more = bytes_of(values);
  if (used + more > kMaxBytesPerPlugin) return nullptr;
  used += more;
  return &found.values.emplace(std::move(values), 0).first->second;
}

bool MetricsRegistry::add(std::uint32_t metric, const std::string& plugin,
                          std::vector<std::string> values, std::int64_t delta) {
  const std::lock_guard lock(mutex_);
  std::int64_t* const place = value(metric, plugin, std::move(values), delta < 0);
  std::int64_t sum = 0;
  if (place == nullptr || __builtin_add_overflow(*place, delta, &sum)) return false;
  *place = sum;
  return true;
}

bool MetricsRegistry::set(std::uint32_t metric, const std::string& plugin,
                          std::vector<std::string> values, std::int64_t new_value) {
  const std::lock_guard lock(mutex_);
  std::int64_t* const place = value(metric, plugin, std::move(values), true);
  if (place == nullptr) return false;
  *place = new_value;
  return true;
}

bool MetricsRegistry::first_refusal(const std::string& plugin) {
  const std::lock_guard lock(mutex_);
  return refused_.insert(plugin).second;
}

std::vector<MetricSnapshot> MetricsRegistry::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<MetricSnapshot> all;
  for (const Metric& metric : metrics_)
    all.push_back({metric.spec, {metric.values.begin(), metric.values.end()}});
  return all;
}

}  // namespace sluice::host
