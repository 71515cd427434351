// Validating a plugin, a file or what runs in a process of its own: every test of tests.hpp that is
// about such a one, each in a process of its own.
//
// REQUIRES: the calling process has one thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/config/config.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/validate/child.hpp"

namespace sluice::host {

struct ValidateOptions {
  std::string config = "{}";                  ///< for plugins that cannot do without
  std::chrono::milliseconds timeout{30'000};  ///< per test
  std::vector<std::string> only;              ///< names of tests; empty: all
};

struct TestResult {
  std::string_view name, description;
  TestVerdict verdict;
};

/// The functions of extension points that it provides, comma-separated: loaded and created in a
/// process of its own, with this configuration. What failed otherwise, in `detail`.
TestVerdict provided_by(const PluginFile& file, const std::string& config);

/// What a plugin in a process of its own says of itself, and provides.
struct ProcessDescription {
  std::string name, version, description, config_schema, provides;
};

/// Starts it, creates it with the configuration that `plugin` has, and ends it. `folder`: of the
/// plugins. REQUIRES: plugin.process.
Result<ProcessDescription> describe_process(const PluginConfig& plugin,
                                            const std::filesystem::path& folder);

/// As validate_plugin(); the configuration is that of `plugin`. REQUIRES: plugin.process.
Result<std::vector<TestResult>> validate_process(const PluginConfig& plugin,
                                                 const std::filesystem::path& folder,
                                                 const ValidateOptions& options);

/// One result per test, in a fixed order. A cause is told once: where the library does not load or
/// start the tests that need it are skipped, a function that took the process of a test down is
/// called by no later one, and what fails as a test before it did only names that. An error when
/// the file is no plugin that this host can load, or a test's name is not known.
Result<std::vector<TestResult>> validate_plugin(const std::filesystem::path& path,
                                                const ValidateOptions& options);

}  // namespace sluice::host
