#include "host/cli/plugin_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "host/access/identity.hpp"
#include "host/cli/arguments.hpp"
#include "host/cli/output.hpp"
#include "host/cli/plugin_install_commands.hpp"
#include "host/cli/plugin_new.hpp"
#include "host/config/config.hpp"
#include "host/kernel/plugin_runtime.hpp"
#include "host/plugins/plugin_deaths.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/process/runner.hpp"
#include "host/plugins/signature.hpp"
#include "host/plugins/text_gate.hpp"
#include "host/plugins/trial.hpp"
#include "host/plugins/validate/validate.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

using Status = TestVerdict::Status;

struct Options {
  std::string file, config_file, directory;
  std::string host_file;  ///< a host's configuration, where `file` is the name of a plugin in it
  ValidateOptions validate;
  NewPlugin make;
  double timeout_seconds = 30;
  OutputFormat output = OutputFormat::kTable;
  bool provides = false;
};

/// Prints the document where one is wanted; false: a table is.
bool print(const Options& options, const json::value& document) {
  if (options.output == OutputFormat::kTable) return false;
  fmt::print("{}", printed(document, options.output, [] { return std::string(); }));
  return true;
}

// ---- inspect

/// null: everything.
json::value rights_of(const Declarations& declared) {
  if (declared.any_object) return nullptr;
  json::array out;
  for (const ObjectRight& right : declared.may) out.emplace_back(right.text());
  return out;
}

json::value to_json(const PluginFile& file) {
  json::array sections;
  for (const auto& section : file.elf.sections())
    if (!section.name.empty()) sections.push_back({{"name", section.name}, {"size", section.size}});
  return {{"file", file.path.string()},
          {"name", file.metadata.name},
          {"version", file.metadata.version},
          {"abi", {{"major", file.metadata.abi_major}, {"minor", file.metadata.abi_minor}}},
          {"size", file.size},
          {"sha256", file.sha256},
          {"exports", api::to_array(file.elf.exports())},
          {"needs", api::to_array(file.elf.needed())},
          {"points", api::to_array(file.declared.provides)},
          {"may", rights_of(file.declared)},
          {"sections", std::move(sections)}};
}

std::string joined(const std::vector<std::string>& texts) {
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
}

/// The plugin that the host's configuration has under this name, and the folder of its plugins.
struct Configured {
  PluginConfig plugin;
  std::filesystem::path folder;
};

Result<Configured> configured(const Options& options) {
  auto config = load_configuration(options.host_file);
  if (!config) return config.error();
  std::string known;
  for (PluginConfig& plugin : config->plugins.load.value_or(std::vector<PluginConfig>())) {
    if (!plugin.process) continue;
    if (plugin.name == options.file)
      return Configured{std::move(plugin), plugin_directory(config->plugins.directory)};
    known += (known.empty() ? "" : ", ") + plugin.name;
  }
  return Error{fmt::format("{} has no plugin {} with `isolation: process`; it has {}",
                           options.host_file, options.file, known.empty() ? "none" : known)};
}

std::string limits_of(const ProcessConfig& process) {
  return fmt::format("{} MiB, {} files{}, {}", process.memory_bytes >> 20, process.files,
                     process.cpu_seconds == 0
                         ? std::string()
                         : fmt::format(", {} s of processor", process.cpu_seconds),
                     process.network ? "the network" : "no network");
}

Result<int> inspect_process(const Options& options) {
  const auto found = configured(options);
  if (!found) return found.error();
  const auto described = describe_process(found->plugin, found->folder);
  if (!described) return described.error();
  const ProcessConfig& process = *found->plugin.process;
  const std::string command = fmt::format("{}", fmt::join(process.command, " "));
  const json::object document{{"name", described->name},
                              {"version", described->version},
                              {"description", described->description},
                              {"command", api::to_array(process.command)},
                              {"provides", described->provides},
                              {"may", limits_of(process)},
                              {"user", plugin_user(described->name)},
                              {"configSchema", described->config_schema}};
  if (print(options, document)) return 0;
  fmt::print(
      "name      {}\nversion   {}\nabout     {}\ncommand   {}\nprovides  {}\nmay have  {}\n"
      "writes as {}\nconfig    {}\n",
      described->name, described->version,
      described->description.empty() ? "-" : described->description,
      command.empty() ? "(its library)" : command, described->provides, limits_of(process),
      plugin_user(described->name),
      described->config_schema.empty() ? "(it takes none)" : described->config_schema);
  return 0;
}

Result<int> inspect(const Options& options) {
  if (!options.host_file.empty()) return inspect_process(options);
  const auto file = read_plugin_file(options.file);
  if (!file.ok()) return file.error();
  if (options.output != OutputFormat::kTable) {
    json::value shown = to_json(*file);
    if (options.provides && verify_plugin_file(*file, file->path.stem().string(), "").ok()) {
      const TestVerdict provided = provided_by(*file, options.validate.config);
      if (provided.status == Status::kSuccess) shown.as_object()["provides"] = provided.detail;
    }
    print(options, shown);
    return 0;
  }
  const PluginMetadata& metadata = file->metadata;
  fmt::print("name      {}\nversion   {}\nabi       {}.{}\nsize      {}\nsha256    {}\n",
             metadata.name, metadata.version, metadata.abi_major, metadata.abi_minor, file->size,
             file->sha256);
  fmt::print("points    {}\nmay       {}\n", joined(file->declared.provides),
             file->declared.rights());
  fmt::print("exports   {}\nneeds     {}\nsections\n", joined(file->elf.exports()),
             joined(file->elf.needed()));
  for (const auto& section : file->elf.sections())
    if (!section.name.empty()) fmt::print("  {:<24}{:>10}\n", section.name, section.size);
  const auto fit = verify_plugin_file(*file, file->path.stem().string(), "");
  fmt::print("loads     {}\n", fit.ok() ? "yes" : "no: " + fit.error().text);
  if (!fit.ok() || !options.provides) return 0;
  const TestVerdict provided = provided_by(*file, options.validate.config);
  fmt::print("provides  {}{}\n",
             provided.status == Status::kSuccess ? "" : "not known: ", provided.detail);
  return 0;
}

// ---- validate

Result<std::vector<TestResult>> results_of(const Options& options, const ValidateOptions& chosen) {
  if (options.host_file.empty()) return validate_plugin(options.file, chosen);
  const auto found = configured(options);
  if (!found) return found.error();
  return validate_process(found->plugin, found->folder, chosen);
}

json::object to_json(const TestResult& result) {
  json::object out{{"name", result.name},
                   {"description", result.description},
                   {"status", status_name(result.verdict.status)},
                   {"detail", result.verdict.detail}};
  const AskedCall& call = result.verdict.call;
  if (call.step > 0)
    out["call"] = json::object{{"hook", call.hook}, {"step", call.step}, {"input", call.input}};
  return out;
}

/// The call that a verdict is about, below it; a long input is cut here, not in JSON.
std::string lines_of(const AskedCall& call) {
  constexpr std::size_t kMostInput = 400;
  if (call.step == 0) return {};
  std::string input = shown_text(abi_of(call.input), kMostInput);
  if (call.input.size() > kMostInput) input += " (all of it: -o json)";
  return fmt::format("{:9}in {}, call {} of the test\n{}", "", call.hook, call.step,
                     input.empty() ? "" : fmt::format("{:9}asked: {}\n", "", input));
}

Result<int> validate(const Options& options) {
  ValidateOptions chosen = options.validate;
  chosen.timeout = std::chrono::milliseconds(static_cast<long>(options.timeout_seconds * 1000));
  const auto results = results_of(options, chosen);
  if (!results.ok()) return results.error();
  std::size_t bad = 0, skipped = 0;
  json::array tests;
  std::string lines;
  for (const TestResult& result : *results) {
    const Status status = result.verdict.status;
    bad += status == Status::kFailed || status == Status::kCrashed ? 1 : 0;
    skipped += status == Status::kSkipped ? 1 : 0;
    tests.push_back(to_json(result));
    lines += fmt::format(
        "{:<8} {:<28} {}\n", status_name(status), result.name,
        status == Status::kSuccess ? std::string(result.description) : result.verdict.detail);
    lines += lines_of(result.verdict.call);
  }
  lines += fmt::format("{} tests: {} passed, {} skipped, {} failed\n", results->size(),
                       results->size() - bad - skipped, skipped, bad);
  const json::object document{
      {"file", options.file}, {"passed", bad == 0}, {"tests", std::move(tests)}};
  fmt::print("{}", printed(document, options.output, [&] { return lines; }));
  return bad == 0 ? 0 : 1;
}

// ---- list

/// What the configuration says about a plugin of the folder.
std::string use_of(const PluginsConfig& config, const std::string& name) {
  for (const PluginConfig& plugin : chosen_plugins(config, std::nullopt))
    if (plugin.name == name) return plugin.enabled ? "loaded" : "disabled";
  return "not listed";
}

/// One that is a file of the folder: what it says of itself, and why the host would not load it.
json::object listed_file(const std::filesystem::path& path, const PluginsConfig& config,
                         const std::vector<PluginKey>& keys, const PluginDeaths& deaths) {
  const std::string name = path.stem().string();
  json::object out{{"name", name}, {"use", use_of(config, name)}};
  const auto file = read_plugin_file(path);
  if (!file.ok()) {
    out["error"] = file.error().text;
    return out;
  }
  out["version"] = file->metadata.version;
  out["provides"] = api::to_array(file->declared.provides);
  out["needs"] = api::to_array(file->elf.needed());
  out["may"] = rights_of(file->declared);
  PluginConfig chosen;
  chosen.name = name;
  for (const PluginConfig& plugin : chosen_plugins(config, std::nullopt))
    if (plugin.name == name) chosen = plugin;
  chosen.trust = config.trust;
  if (const auto fit = read_trusted_plugin(path.parent_path(), chosen); !fit.ok())
    out["error"] = fit.error().text;
  if (!keys.empty()) {
    const auto signatures = read_signatures(path);
    const auto signer = signer_of(*file, signatures ? *signatures : std::string(), keys);
    if (signer) out["signedBy"] = {{"key", signer->id}, {"file", signer->file}};
  }
  if (const std::string why = deaths.quarantine_of(name, file->sha256); !why.empty())
    out["error"] = "quarantined: " + why;
  return out;
}

/// Plugins of the configuration that are no files of the folder.
void add_others(const PluginsConfig& config, const std::filesystem::path& directory,
                json::array& out) {
  if (!config.load) return;
  for (const PluginConfig& plugin : *config.load) {
    if (plugin.process && !plugin.process->command.empty())
      out.push_back({{"name", plugin.name}, {"use", plugin.enabled ? "command" : "disabled"}});
    else if (plugin.enabled && !std::filesystem::exists(directory / (plugin.name + ".so")))
      out.push_back({{"name", plugin.name},
                     {"use", "loaded"},
                     {"error", "there is no such file in " + directory.string()}});
  }
}

using Lines = std::vector<std::string>;

/// A cell of the table.
Lines cell(const json::object& plugin, const char* key) {
  const json::value* found = plugin.if_contains(key);
  if (found == nullptr) return {"-"};
  if (found->is_string()) return {std::string(found->get_string())};
  if (found->is_null()) return {"everything"};  // of `may`
  if (found->is_object()) return {std::string(found->at("key").as_string())};
  Lines out;
  for (const json::value& each : found->get_array()) out.emplace_back(each.as_string().c_str());
  return out.empty() ? Lines{"-"} : out;
}

/// A row of the table, as high as its longest list.
std::string lines_of(const std::vector<Lines>& row, std::span<const std::size_t> widths) {
  std::size_t height = 0;
  for (const Lines& each : row) height = std::max(height, each.size());
  std::string out;
  for (std::size_t at = 0; at < height; ++at) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:<{}}  ", at < row[i].size() ? row[i][at] : "", widths[i]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

/// Lists stand in their column, one below the other.
std::string table_of(const json::array& plugins) {
  constexpr std::array<const char*, 8> kKeys = {"name",     "version", "use", "signedBy",
                                                "provides", "needs",   "may", "error"};
  std::vector<std::vector<Lines>> rows{{{"NAME"},
                                        {"VERSION"},
                                        {"USE"},
                                        {"SIGNED BY"},
                                        {"PROVIDES"},
                                        {"NEEDS"},
                                        {"MAY"},
                                        {"PROBLEM"}}};
  std::array<std::size_t, kKeys.size()> widths{};
  for (const json::value& plugin : plugins) {
    auto& row = rows.emplace_back();
    for (const char* key : kKeys) row.push_back(cell(plugin.get_object(), key));
  }
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      for (const std::string& line : row[i]) widths[i] = std::max(widths[i], line.size());
  std::string out;
  for (const auto& row : rows) out += lines_of(row, widths);
  return out;
}

Result<int> list(const Options& options) {
  PluginsConfig config;
  PluginDeaths deaths;
  if (!options.config_file.empty()) {
    auto read = load_configuration(options.config_file);
    if (!read.ok()) return read.error();
    config = read->plugins;
    if (read->store.path != "memory") deaths = PluginDeaths::read(read->store.path);
  }
  if (!options.directory.empty()) config.directory = std::filesystem::absolute(options.directory);
  const auto keys = read_plugin_keys(config.trust.keys);
  if (!keys.ok()) return keys.error();
  const auto directory = plugin_directory(config.directory);
  json::array plugins;
  for (const std::string& name : plugin_names(directory))
    plugins.push_back(listed_file(directory / (name + ".so"), config, *keys, deaths));
  add_others(config, directory, plugins);
  const json::object document{{"directory", directory.string()}, {"plugins", plugins}};
  fmt::print("{}", printed(document, options.output, [&] { return table_of(plugins); }));
  return 0;
}

// ---- try

Result<int> try_load(const Options&) {
  if (auto loaded = run_trial(); !loaded) return loaded.error();
  return 0;
}

// ---- run

Result<int> run(const Options& options) {
  if (auto ran = run_plugin(options.make.name); !ran) return ran.error();
  return 0;
}

// ---- new

Result<int> make_new(const Options& options) {
  const auto written = write_new_plugin(options.make);
  if (!written.ok()) return written.error();
  json::array files;
  for (const auto& path : *written) files.emplace_back(path.string());
  const json::object document{{"name", options.make.name}, {"files", std::move(files)}};
  if (print(options, document)) return 0;
  for (const auto& path : *written) fmt::print("{}\n", path.string());
  const std::string folder = written->front().parent_path().string();
  fmt::print("\nNext:\n{}", next_steps(options.make, folder));
  return 0;
}

}  // namespace

void add_plugin_commands(CLI::App& app, std::function<Result<int>()>& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* plugin = app.add_subcommand("plugin", "Start plugins, look at them, test them");
  plugin->require_subcommand(1);

  const auto add = [&](const char* name, const char* description,
                       Result<int> (*run)(const Options&)) {
    CLI::App* command = plugin->add_subcommand(name, description);
    add_output_option(*command, options->output);
    command->add_flag_callback(
        "--json", [options] { options->output = OutputFormat::kJson; }, "The same as -o json");
    command->callback(
        [&action, options, run] { action = [options, run] { return run(*options); }; });
    return command;
  };

  CLI::App* inspecting = add(
      "inspect", "Show what a plugin file says about itself, without running any of it", &inspect);
  inspecting->add_option("FILE", options->file, "The plugin's library")->required();
  inspecting->add_option("--host-config", options->host_file,
                         "A host's configuration: FILE is the name of a plugin in it that has a "
                         "process of its own");
  inspecting->add_flag("--provides", options->provides,
                       "Create it, in a process of its own, and list the hooks that it provides");
  inspecting->add_option("--config", options->validate.config,
                         "Configuration of the plugin as JSON, if it cannot do without");

  CLI::App* validating =
      add("validate", "Test a plugin, each test in a process of its own", &validate);
  validating->add_option("FILE", options->file, "The plugin's library")->required();
  validating->add_option("--host-config", options->host_file,
                         "A host's configuration: FILE is the name of a plugin in it that has a "
                         "process of its own");
  validating->add_option("--config", options->validate.config,
                         "Configuration of the plugin as JSON, if it cannot do without");
  validating->add_option("--timeout", options->timeout_seconds, "Seconds per test")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  validating->add_option("--only", options->validate.only, "Run only the tests of these names")
      ->delimiter(',')
      ->allow_extra_args(false);

  CLI::App* making = add("new", "Write a folder to start a plugin from", &make_new);
  making->add_option("NAME", options->make.name, "Name of the plugin, for example budget-check")
      ->required();
  options->make.kind = plugin_kinds().front();
  making->add_option("--kind", options->make.kind, "What the plugin answers")
      ->check(one_of(plugin_kinds()))
      ->capture_default_str();
  options->make.language = plugin_languages().front();
  making
      ->add_option("--lang", options->make.language,
                   "What it is written in; not every kind is there in each")
      ->check(one_of(plugin_languages()))
      ->capture_default_str();
  making->add_option("--directory", options->make.directory, "The folder to write, else NAME");

  CLI::App* listing = add("list", "List the plugins that this host could load", &list);
  listing->add_option("--config", options->config_file, "A configuration file of the host");
  listing->add_option("--directory", options->directory, "Folder with plugins");

  CLI::App* running = add("run", "Run an isolated plugin: for the host itself", &run);
  running->add_option("NAME", options->make.name, "Name of the plugin")->required();
  running->group("");
  add("try", "Load plugins and end: for the host itself", &try_load)->group("");
  add_plugin_install_commands(*plugin, action);
}

}  // namespace sluice::host
