// What the tests of the plugin host share: a clock that is told, plugins by name, small objects.
//
// One thread, but where a test says otherwise.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "host/plugins/plugin_set.hpp"

namespace sluice::host {

/// Time goes only where a test sends it. Each call into a plugin seems to take `call_takes`.
class TestClock final : public PluginClock {
 public:
  Time now() const override { return time; }
  Duration steady() const override { return steady_.fetch_add(call_takes) + call_takes; }
  bool is_virtual() const override { return simulated; }
  Time time = 1000 * kSecond;
  bool simulated = false;
  Duration call_takes = 0;

 private:
  mutable std::atomic<Duration> steady_ = 0;  // hooks are called from several threads
};

struct PluginLogLine {
  int level;
  std::string plugin, text;
};

class PluginTest : public ::testing::Test {
 protected:
  static PluginConfig plugin(std::string name, std::string config = "{}",
                             FailurePolicy policy = FailurePolicy::kClosed) {
    return {std::move(name), true, policy, "", std::move(config)};
  }

  Result<std::unique_ptr<PluginSet>> try_load(std::vector<PluginConfig> plugins) {
    PluginSetConfig config;
    config.directory = directory;
    config.plugins = std::move(plugins);
    config.clock = &clock;
    config.limits = limits;
    config.program = SLUICE_BINARY;
    config.log = [this](int level, std::string_view plugin, std::string_view text) {
      const std::lock_guard lock(log_mutex);  // hooks fault in several threads
      log.push_back({level, std::string(plugin), std::string(text)});
    };
    return PluginSet::load(config);
  }

  /// Loaded and active.
  std::unique_ptr<PluginSet> load(std::vector<PluginConfig> plugins) {
    auto set = try_load(std::move(plugins));
    if (!set.ok()) {
      ADD_FAILURE() << set.error().text;
      return nullptr;
    }
    const auto active = (*set)->activate();
    EXPECT_TRUE(active.ok());
    return std::move(set).value();
  }

  std::string load_error(std::vector<PluginConfig> plugins) {
    const auto set = try_load(std::move(plugins));
    return set.ok() ? "" : set.error().text;
  }

  std::filesystem::path directory = SLUICE_TEST_PLUGINS;
  TestClock clock;
  FaultLimits limits;
  std::vector<PluginLogLine> log;
  std::mutex log_mutex;
};

inline api::Workload make_workload(const std::string& name, std::int32_t priority = 0) {
  api::Workload workload;
  workload.meta.ns = "team-a";
  workload.meta.name = name;
  workload.meta.uid = "uid-" + name;
  workload.priority = priority;
  workload.pod_sets.resize(1);
  return workload;
}

/// Asks all filters; the skipped flavors with their reasons, and the fault.
struct Filtered {
  std::vector<std::string> skipped;
  hooks::Fault fault;
};

inline Filtered ask_filters(PluginSet& set, const api::Workload& workload,
                            const std::vector<std::string_view>& flavors) {
  hooks::FilterAnswer answer{
      std::vector<std::uint8_t>(flavors.size(), 0), std::vector<std::string>(flavors.size()), {}};
  Filtered result;
  set.hooks().flavor_filter->filter({workload, 0, 0, flavors}, answer, result.fault);
  for (std::size_t i = 0; i < flavors.size(); ++i)
    if (answer.skip[i] != 0)
      result.skipped.push_back(std::string(flavors[i]) + ": " + answer.reasons[i]);
  return result;
}

}  // namespace sluice::host
