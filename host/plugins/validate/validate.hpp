// Validating a plugin file: every test of tests.hpp, each in a process of its own.
//
// REQUIRES: the calling process has one thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
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

/// One result per test, in a fixed order. An error when the file is no plugin that this host can
/// load, or a test's name is not known.
Result<std::vector<TestResult>> validate_plugin(const std::filesystem::path& path,
                                                const ValidateOptions& options);

}  // namespace sluice::host
