#include "host/plugins/validate/validate.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>

#include "host/plugins/config_schema.hpp"
#include "host/plugins/library.hpp"
#include "host/plugins/process/process_root.hpp"
#include "host/plugins/signature.hpp"
#include "host/plugins/validate/tests.hpp"

namespace sluice::host {

namespace {

using Status = TestVerdict::Status;

/// Gives the plugin's root struct; called in the child.
using Load = std::function<Result<const sluice_plugin_t*>()>;

/// What happens in the child.
TestVerdict run_one(const ValidateTest& test, const PluginFile& file, const std::string& config,
                    const Load& load) {
  Subject subject{file, nullptr, config};
  if (test.needs != TestNeeds::kFile) {
    const auto root = [&] {
      const Asking asking("plugin.open", file.path.string());
      return load();
    }();
    if (!root.ok()) return {Status::kFailed, root.error().text, {}};
    subject.root = *root;
    if (const auto schema = ConfigSchema::parse(view_of(subject.root->config_schema));
        schema.ok()) {
      const auto checked = schema->check(config);
      if (!checked.ok())
        return {Status::kSkipped, "it needs --config: " + checked.error().text, {}};
      subject.config = boost::json::serialize(*checked);
    }
  }
  try {
    test.run(subject);
    return {};
  } catch (const TestSkipped& e) {
    return {Status::kSkipped, e.what(), {}};
  } catch (const TestFailed& e) {
    return {Status::kFailed, e.what(), {}};
  }
}

Result<void> check_names(const std::vector<std::string>& names) {
  std::string known;
  for (const ValidateTest& test : validate_tests())
    known += (known.empty() ? "" : ", ") + std::string(test.name);
  for (const std::string& name : names)
    if (std::none_of(validate_tests().begin(), validate_tests().end(),
                     [&](const ValidateTest& test) { return test.name == name; }))
      return Error{"there is no test " + name + "; there are " + known};
  return {};
}

bool is_wanted(const ValidateTest& test, const ValidateOptions& options) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), test.name) != options.only.end();
}

bool is_bad(Status status) { return status == Status::kFailed || status == Status::kCrashed; }

/// Results in their order, each cause told once.
class Results {
 public:
  Results() { give_up_nothing(); }

  void run(const ValidateTest& test, const std::function<TestVerdict()>& body,
           std::chrono::milliseconds timeout) {
    TestVerdict verdict;
    if (const std::string_view before = missing(test.needs); !before.empty()) {
      verdict = {Status::kSkipped, "see " + std::string(before), {}};
    } else {
      verdict = run_in_child(body, timeout);
    }
    const bool bad = is_bad(verdict.status);
    if (bad && (test.name == kLoadTest || test.name == kStartTest)) failed_.push_back(test.name);
    if (verdict.status == Status::kCrashed) give_up(verdict.call, test.name);
    if (bad) tell_once(test.name, verdict);
    all_.push_back({test.name, test.description, std::move(verdict)});
  }
  std::vector<TestResult> take() { return std::move(all_); }

 private:
  /// The test that failed, without which one with these needs says nothing.
  std::string_view missing(TestNeeds needs) const {
    for (const std::string_view test : failed_)
      if (needs == TestNeeds::kRunning || (needs == TestNeeds::kCode && test == kLoadTest))
        return test;
    return {};
  }

  void tell_once(std::string_view test, TestVerdict& verdict) {
    const std::string cause =
        std::string(status_name(verdict.status)) + verdict.detail + '\n' + verdict.call.hook;
    const auto [it, first] = causes_.emplace(cause, test);
    if (first) return;
    verdict.detail = "as " + std::string(it->second) + " did";
    verdict.call = {};
  }

  std::vector<TestResult> all_;
  std::vector<std::string_view> failed_;
  std::map<std::string, std::string_view> causes_;
};

std::string functions_of(const LoadedPlugin& plugin) {
  std::string names;
  for (const std::string_view name : plugin.extensions().functions())
    names.append(names.empty() ? "" : ", ").append(name);
  return names;
}

/// The process, as a library's root struct; it lives as long as that is held.
Result<std::shared_ptr<const ProcessRoot>> start_process(const PluginConfig& plugin,
                                                         const std::filesystem::path& folder) {
  constexpr const char* kProgram = "/proc/self/exe";
  if (!plugin.process->command.empty()) return ProcessRoot::load(plugin, folder, nullptr, kProgram);
  const auto file = read_trusted_plugin(folder, plugin);
  if (!file) return file.error();
  return ProcessRoot::load(plugin, folder, &*file, kProgram);
}

}  // namespace

Result<ProcessDescription> describe_process(const PluginConfig& plugin,
                                            const std::filesystem::path& folder) {
  const auto root = start_process(plugin, folder);
  if (!root) return root.error().context("plugin " + plugin.name);
  const StoppedClock clock;
  MetricsRegistry metrics;
  const auto loaded = LoadedPlugin::create(**root, plugin, {&clock, &metrics, {}}, {});
  if (!loaded) return loaded.error();
  return ProcessDescription{std::string(view_of((*root)->name)),
                            std::string(view_of((*root)->version)),
                            std::string(view_of((*root)->description)),
                            std::string(view_of((*root)->config_schema)), functions_of(**loaded)};
}

Result<std::vector<TestResult>> validate_process(const PluginConfig& plugin,
                                                 const std::filesystem::path& folder,
                                                 const ValidateOptions& options) {
  if (auto known = check_names(options.only); !known.ok()) return known.error();
  PluginFile none;
  none.metadata.name = plugin.name;
  Results results;
  for (const ValidateTest& test : validate_tests()) {
    if (!test.of_processes || !is_wanted(test, options)) continue;
    const auto run = [&] {
      std::shared_ptr<const ProcessRoot> held;
      const Load load = [&]() -> Result<const sluice_plugin_t*> {
        auto root = start_process(plugin, folder);
        if (!root) return root.error();
        held = *root;
        return held.get();
      };
      return run_one(test, none, plugin.config_json, load);
    };
    results.run(test, run, options.timeout);
  }
  return results.take();
}

TestVerdict provided_by(const PluginFile& file, const std::string& config_json) {
  const auto look = [&]() -> TestVerdict {
    const auto root = load_library(file);
    if (!root.ok()) return {Status::kFailed, root.error().text, {}};
    const StoppedClock clock;
    MetricsRegistry metrics;
    PluginConfig config;
    config.name = file.metadata.name;
    config.config_json = config_json;
    const auto loaded = LoadedPlugin::create(**root, config, {&clock, &metrics, {}}, {});
    if (!loaded.ok()) return {Status::kFailed, loaded.error().text, {}};
    return {Status::kSuccess, functions_of(**loaded), {}};
  };
  return run_in_child(look, std::chrono::seconds(10));
}

Result<std::vector<TestResult>> validate_plugin(const std::filesystem::path& path,
                                                const ValidateOptions& options) {
  if (auto known = check_names(options.only); !known.ok()) return known.error();
  const auto file = read_plugin_file(std::filesystem::absolute(path));
  if (!file.ok()) return file.error();
  if (auto fit = verify_plugin_file(*file, file->path.stem().string(), ""); !fit.ok())
    return fit.error();
  Results results;
  for (const ValidateTest& test : validate_tests()) {
    if (!is_wanted(test, options)) continue;
    const auto run = [&] {
      return run_one(test, *file, options.config, [&] { return load_library(*file); });
    };
    results.run(test, run, options.timeout);
  }
  return results.take();
}

}  // namespace sluice::host
