#include "host/plugins/validate/validate.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "host/plugins/config_schema.hpp"
#include "host/plugins/library.hpp"
#include "host/plugins/validate/tests.hpp"

namespace sluice::host {

namespace {

using Status = TestVerdict::Status;

/// What happens in the child.
TestVerdict run_one(const ValidateTest& test, const PluginFile& file, const std::string& config) {
  Subject subject{file, nullptr, config};
  if (test.loads) {
    const auto root = load_library(file);
    if (!root.ok()) return {Status::kFailed, root.error().text};
    subject.root = *root;
    if (const auto schema = ConfigSchema::parse(view_of(subject.root->config_schema));
        schema.ok()) {
      const auto checked = schema->check(config);
      if (!checked.ok()) return {Status::kSkipped, "it needs --config: " + checked.error().text};
      subject.config = boost::json::serialize(*checked);
    }
  }
  try {
    test.run(subject);
    return {};
  } catch (const TestSkipped& e) {
    return {Status::kSkipped, e.what()};
  } catch (const TestFailed& e) {
    return {Status::kFailed, e.what()};
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

}  // namespace

TestVerdict provided_by(const PluginFile& file, const std::string& config_json) {
  const auto look = [&]() -> TestVerdict {
    const auto root = load_library(file);
    if (!root.ok()) return {Status::kFailed, root.error().text};
    const StoppedClock clock;
    MetricsRegistry metrics;
    PluginConfig config;
    config.name = file.metadata.name;
    config.config_json = config_json;
    const auto loaded = LoadedPlugin::create(**root, config, {&clock, &metrics, {}}, {});
    if (!loaded.ok()) return {Status::kFailed, loaded.error().text};
    std::string names;
    for (const std::string_view name : (*loaded)->extensions().functions())
      names.append(names.empty() ? "" : ", ").append(name);
    return {Status::kSuccess, names};
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
  std::vector<TestResult> results;
  for (const ValidateTest& test : validate_tests()) {
    const bool wanted = options.only.empty() || std::find(options.only.begin(), options.only.end(),
                                                          test.name) != options.only.end();
    if (!wanted) continue;
    results.push_back(
        {test.name, test.description,
         run_in_child([&] { return run_one(test, *file, options.config); }, options.timeout)});
  }
  return results;
}

}  // namespace sluice::host
