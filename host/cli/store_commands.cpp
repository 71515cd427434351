#include "host/cli/store_commands.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/cli/arguments.hpp"
#include "host/cli/output.hpp"
#include "host/objects/job_pages.hpp"
#include "host/simulate/output.hpp"
#include "host/store/reader.hpp"
#include "host/store/tools.hpp"

namespace sluice::host {
namespace {

struct StoreArguments {
  std::string path, file, output = "-", format, key_file;
  std::vector<std::string> kinds;
  OutputFormat format_of_report = OutputFormat::kTable;
};

boost::json::object document_of(const StoreReport& report) {
  boost::json::array kinds, problems;
  for (const auto& kind : report.kinds)
    kinds.push_back({{"kind", kind.kind},
                     {"objects", kind.objects},
                     {"lastChange", kind.version},
                     {"judged", kind.known}});
  for (const std::string& problem : report.problems) problems.emplace_back(problem);
  boost::json::object encrypted;
  for (const auto& [key, count] : report.encrypted) encrypted[key] = count;
  return {{"store", report.file},
          {"version", report.version},
          {"objects", report.objects},
          {"kinds", std::move(kinds)},
          {"encrypted", std::move(encrypted)},
          {"notJudged", report.unread},
          {"allProblems", report.all_problems},
          {"problems", std::move(problems)}};
}

std::string table_of(const StoreReport& report) {
  std::size_t width = 4;
  for (const auto& kind : report.kinds) width = std::max(width, kind.kind.size());
  std::string out = fmt::format("store    {}\nversion  {}\n\n", report.file, report.version);
  out += fmt::format("{:<{}}  {:>9}  {:>11}\n", "KIND", width, "OBJECTS", "LAST CHANGE");
  for (const auto& kind : report.kinds)
    out += fmt::format("{:<{}}  {:>9}  {:>11}{}\n", kind.kind, width, kind.objects, kind.version,
                       kind.known ? "" : "  of a plugin: not judged");
  for (const auto& [key, count] : report.encrypted)
    out += fmt::format("\n{} Secrets are encrypted with the key \"{}\"{}", count, key,
                       report.unread == 0 ? "" : ": not judged without --key-file");
  if (!report.encrypted.empty()) out += '\n';
  return out;
}

/// The kinds as a host with this store serves them, but for those of its plugins. A store that
/// cannot be read has the built-in ones, and tells why when it is read as a whole.
api::Scheme kinds_in(const std::string& path) {
  api::Scheme scheme;
  if (const auto found = objects_of_kind(path, "sluice.dev/JobKind")) {
    JobPages pages = pages_of(*found);
    declare_kinds(scheme, pages);
  }
  return scheme;
}

Result<EncryptionKeys> keys_in(const std::string& file) {
  return file.empty() ? EncryptionKeys() : EncryptionKeys::read(file);
}

Result<int> check(const StoreArguments& options) {
  const auto keys = keys_in(options.key_file);
  if (!keys) return keys.error();
  const api::Scheme scheme = kinds_in(options.path);
  const auto report = check_store(options.path, scheme, *keys);
  if (!report) return report.error();
  fmt::print("{}", printed(document_of(*report), options.format_of_report,
                           [&] { return table_of(*report); }));
  for (const std::string& problem : report->problems) fmt::print(stderr, "error: {}\n", problem);
  if (report->all_problems > report->problems.size())
    fmt::print(stderr, "error: and {} more\n", report->all_problems - report->problems.size());
  if (report->all_problems != 0) return 1;
  if (options.format_of_report == OutputFormat::kTable)
    fmt::print("\nok: {} objects\n", report->objects);
  return 0;
}

Result<int> backup(const StoreArguments& options) {
  const auto version = back_up_store(options.path, options.file);
  if (!version) return version.error();
  fmt::print("{}: the store as of version {}\n", options.file, *version);
  return 0;
}

Result<int> restore(const StoreArguments& options) {
  const auto version = restore_store(options.path, options.file);
  if (!version) return version.error();
  fmt::print("{}: the store as of version {}, as {} has it\n", options.path, *version,
             options.file);
  return 0;
}

bool ends_with(const std::string& text, const char* end) {
  const std::string wanted(end);
  return text.size() >= wanted.size() &&
         text.compare(text.size() - wanted.size(), wanted.size(), wanted) == 0;
}

Result<int> write_manifests(const StoreArguments& options) {
  ::umask(077);  // a store holds secrets
  auto keys = keys_in(options.key_file);
  if (!keys) return keys.error();
  auto output = PendingOutput::open(options.output);
  if (!output) return output.error();
  const api::Scheme scheme = kinds_in(options.path);
  ExportOptions how;
  how.yaml =
      options.format.empty() ? !ends_with(options.output, ".json") : options.format == "yaml";
  how.kinds = options.kinds;
  how.keys = std::move(*keys);
  const auto count = export_store(options.path, scheme, how,
                                  [&](const std::string& text) { output->append(text); });
  if (!count) return count.error();
  if (auto written = output->commit(); !written) return written.error();
  if (options.output != "-") fmt::print("{}: {} objects\n", options.output, *count);
  return 0;
}

}  // namespace

void add_store_commands(CLI::App& app, Action& action) {
  CLI::App* store =
      app.add_subcommand("store", "Check, copy, restore or write out a store on disk");
  store->require_subcommand(1);
  const auto options = std::make_shared<StoreArguments>();
  const auto add = [&](const char* name, const char* about, const char* footer,
                       Result<int> (*run)(const StoreArguments&)) {
    CLI::App* command = store->add_subcommand(name, about);
    command->footer(footer);
    command->add_option("PATH", options->path, "The store's folder (store.path), or a backup")
        ->required();
    command->callback(
        [&action, options, run] { action = [options, run] { return run(*options); }; });
    return command;
  };

  const auto add_keys = [&](CLI::App* command) {
    command->add_option("--key-file", options->key_file,
                        "store.encryption.keyFile, where Secrets are encrypted");
    return command;
  };
  add_output_option(
      *add_keys(
          add("check", "Look at every page and every object; exit status 1 when something is wrong",
              "A host may have the store open.\n\nExample:\n  sluice store check ./sluice-data",
              check)),
      options->format_of_report);
  add("backup", "Copy the store into one file, as of one moment",
      R"(A host may have the store open. `sluice store restore` goes back to it.

Example:
  sluice store backup ./sluice-data backup.db)",
      backup)
      ->add_option("FILE", options->file, "The new file")
      ->required();
  add("restore", "Put a backup in the place of a store",
      R"(No host may have the store open. What was there before is kept as
PATH/replaced.db. Clients that saw what came after the backup list anew.

Example:
  sluice store restore ./sluice-data backup.db)",
      restore)
      ->add_option("FILE", options->file, "The backup, or the folder of another store")
      ->required();
  CLI::App* exported = add(
      "export", "Write the objects as manifests",
      "One v1 List, which `sluice simulate` and `kubectl apply` read.\n\nExamples:\n  sluice store "
      "export ./sluice-data --output all.yaml\n  sluice store export ./sluice-data --kind "
      "clusterqueues --kind localqueues",
      write_manifests);
  add_keys(exported)
      ->add_option("--output,-o", options->output, "Where to; - is stdout")
      ->capture_default_str();
  exported->add_option("--format", options->format, "yaml or json; by default as FILE ends")
      ->check(one_of({"yaml", "json"}));
  exported->add_option("--kind", options->kinds, "Only this kind; may be repeated")
      ->allow_extra_args(false);
}

}  // namespace sluice::host
