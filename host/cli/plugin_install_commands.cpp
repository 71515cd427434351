#include "host/cli/plugin_install_commands.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/output.hpp"
#include "host/client/download.hpp"
#include "host/config/config.hpp"
#include "host/plugins/install.hpp"
#include "host/plugins/signature.hpp"

namespace sluice::host {

namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

struct InstallOptions {
  std::string file;  ///< or a URL
  std::vector<std::string> keys;
  std::string key, host_file, directory;
  bool replace = false, dry_run = false;
  OutputFormat output = OutputFormat::kTable;
};

std::string or_dash(const std::vector<std::string>& texts) {
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
}

/// What decides here: the keys of the command line and those of the host, and its folder.
struct InstallRules {
  PluginsConfig config;
  std::vector<PluginKey> keys;
};

Result<InstallRules> install_rules(const InstallOptions& options) {
  InstallRules out;
  if (!options.host_file.empty()) {
    auto config = load_configuration(options.host_file);
    if (!config) return config.error();
    out.config = std::move(config->plugins);
  }
  if (!options.directory.empty())
    out.config.directory = std::filesystem::absolute(options.directory);
  std::vector<std::string> files = options.keys;
  files.insert(files.end(), out.config.trust.keys.begin(), out.config.trust.keys.end());
  auto keys = read_plugin_keys(files);
  if (!keys) return keys.error();
  out.keys = std::move(*keys);
  return out;
}

// ---- sign

Result<int> sign(const InstallOptions& options) {
  const auto file = read_plugin_file(options.file);
  if (!file) return file.error();
  const auto line = sign_plugin(*file, options.key);
  if (!line) return line.error();
  const auto present = read_signatures(file->path);
  if (!present) return present.error();
  const fs::path path = signature_path(file->path);
  const std::string text = with_signature(*present, file->sha256, *line);
  if (auto written = replace_file(path, text); !written) return written.error();
  const auto keys = read_plugin_keys({options.key});
  if (!keys) return keys.error();
  const json::object document{{"file", path.string()},
                              {"name", file->metadata.name},
                              {"version", file->metadata.version},
                              {"sha256", file->sha256},
                              {"key", keys->front().id}};
  fmt::print("{}", printed(document, options.output, [&] {
               return fmt::format("{}: {} {} is signed by the key {}\n", path.string(),
                                  file->metadata.name, file->metadata.version, keys->front().id);
             }));
  return 0;
}

// ---- verify

Result<int> verify(const InstallOptions& options) {
  const auto rules = install_rules(options);
  if (!rules) return rules.error();
  if (rules->keys.empty())
    return Error{
        "no key is named: --key FILE does, or plugins.trust.keys in the file of --host-config"};
  const auto file = read_plugin_file(options.file);
  if (!file) return file.error();
  const auto signatures = read_signatures(file->path);
  if (!signatures) return signatures.error();
  const auto signer = signer_of(*file, *signatures, rules->keys);
  if (!signer) return signer.error().context(file->path.string());
  const json::object document{{"file", file->path.string()},
                              {"name", file->metadata.name},
                              {"version", file->metadata.version},
                              {"sha256", file->sha256},
                              {"signedBy", {{"key", signer->id}, {"file", signer->file}}}};
  fmt::print("{}", printed(document, options.output, [&] {
               return fmt::format("{}: {} {} is signed by {} ({})\n", file->path.string(),
                                  file->metadata.name, file->metadata.version, signer->id,
                                  signer->file);
             }));
  return 0;
}

// ---- install

/// A library and what is said of it, as they were read: once.
struct Candidate {
  PluginFile file;
  std::string signatures;
};

Result<Candidate> fetch(const std::string& whence, bool needs_signature) {
  if (!is_url(whence)) {
    auto file = read_plugin_file(whence);
    if (!file) return file.error();
    auto signatures = read_signatures(file->path);
    if (!signatures) return signatures.error();
    return Candidate{std::move(*file), std::move(*signatures)};
  }
  if (!needs_signature && whence.starts_with("http://"))
    return Error{whence +
                 ": who is on the way of a connection without TLS can change what comes, so it has "
                 "to be signed: name the key with --key or --host-config, or take https"};
  auto bytes = download(whence, kMaxPluginBytes);
  if (!bytes) return bytes.error();
  auto file = parse_plugin_file(whence, std::move(*bytes));
  if (!file) return file.error();
  auto signatures = download(whence + ".sig", kMaxSignatureBytes);
  if (!signatures && needs_signature) return signatures.error();
  return Candidate{std::move(*file), signatures ? std::move(*signatures) : std::string()};
}

json::object about(const PluginFile& file, const std::optional<PluginKey>& signer) {
  std::vector<std::string> may;
  for (const ObjectRight& right : file.declared.may) may.push_back(right.text());
  json::object out{
      {"name", file.metadata.name},
      {"version", file.metadata.version},
      {"from", file.path.string()},
      {"sha256", file.sha256},
      {"provides", json::value_from(file.declared.provides)},
      {"needs", json::value_from(file.elf.needed())},
      {"may", file.declared.any_object ? json::value(nullptr) : json::value_from(may)}};
  if (signer) out["signedBy"] = {{"key", signer->id}, {"file", signer->file}};
  return out;
}

std::string about_text(const PluginFile& file, const std::optional<PluginKey>& signer) {
  return fmt::format(
      "name      {}\nversion   {}\nfrom      {}\nsha256    {}\nprovides  {}\nneeds     {}\n"
      "may       {}\nsigned    {}\n",
      file.metadata.name, file.metadata.version, file.path.string(), file.sha256,
      or_dash(file.declared.provides), or_dash(file.elf.needed()), file.declared.rights(),
      signer ? fmt::format("by {} ({})", signer->id, signer->file)
             : "not verified: no key is named");
}

std::string outcome_of(const Placed& placed) {
  if (placed.was_there) return placed.path.string() + " has it already\n";
  return fmt::format("{} {}; a running host takes it up when it is reloaded (SIGHUP)\n",
                     placed.path.string(),
                     placed.replaced.empty() ? "is installed" : "replaced " + placed.replaced);
}

Result<int> install(const InstallOptions& options) {
  const auto rules = install_rules(options);
  if (!rules) return rules.error();
  const bool needs_signature = !rules->keys.empty();
  const auto candidate = fetch(options.file, needs_signature);
  if (!candidate) return candidate.error();
  const PluginFile& file = candidate->file;
  if (auto fit = check_candidate(file); !fit) return fit.error();
  std::optional<PluginKey> signer;
  if (needs_signature) {
    auto found = signer_of(file, candidate->signatures, rules->keys);
    if (!found) return found.error().context(file.path.string());
    signer = std::move(*found);
  }
  json::object document = about(file, signer);
  const bool table = options.output == OutputFormat::kTable;
  if (table) fmt::print("{}", about_text(file, signer));
  if (!options.dry_run) {
    std::fflush(stdout);  // what it may do is said before it is there
    const auto placed = place_plugin(file, candidate->signatures,
                                     plugin_directory(rules->config.directory), options.replace);
    if (!placed) return placed.error();
    document["installed"] = placed->path.string();
    document["replaced"] = placed->replaced;
    if (table) fmt::print("{}", outcome_of(*placed));
  }
  if (!table) fmt::print("{}", printed(document, options.output, {}));
  return 0;
}

void add_keys(CLI::App& command, const std::shared_ptr<InstallOptions>& options) {
  command
      .add_option("--key", options->keys,
                  "A file with a public key (PEM); several may be named, one of them must have "
                  "signed")
      ->allow_extra_args(false);
  command.add_option("--host-config", options->host_file,
                     "A host's configuration: its plugins.trust.keys count, too");
}

}  // namespace

void add_plugin_install_commands(CLI::App& plugin, std::function<Result<int>()>& action) {
  const auto options = std::make_shared<InstallOptions>();
  const auto add = [&](const char* name, const char* description,
                       Result<int> (*run)(const InstallOptions&)) {
    CLI::App* command = plugin.add_subcommand(name, description);
    add_output_option(*command, options->output);
    command->callback(
        [&action, options, run] { action = [options, run] { return run(*options); }; });
    return command;
  };

  CLI::App* installing = add(
      "install", "Judge a plugin from elsewhere without running it, and put it in place", &install);
  installing->add_option("FILE", options->file, "The plugin's library, or its URL")->required();
  add_keys(*installing, options);
  installing->add_option("--directory", options->directory,
                         "Folder to put it into; else that of --host-config");
  installing->add_flag("--replace", options->replace, "Even what is there and not older");
  installing->add_flag("--dry-run", options->dry_run, "Judge and show it, put it nowhere");

  CLI::App* signing = add("sign", "Write beside a plugin that you vouch for it", &sign);
  signing->add_option("FILE", options->file, "The plugin's library")->required();
  signing->add_option("--key", options->key, "A file with your private key (Ed25519, PEM)")
      ->required();

  CLI::App* verifying = add("verify", "Tell whose signature a plugin has", &verify);
  verifying->add_option("FILE", options->file, "The plugin's library")->required();
  add_keys(*verifying, options);
}

}  // namespace sluice::host
