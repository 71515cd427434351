#include "host/cli/cli.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/version.hpp"
#include "host/cli/command.hpp"
#include "host/cli/command_tree.hpp"
#include "host/cli/plugin_commands.hpp"
#include "host/cli/store_commands.hpp"
#include "host/executor/process/runner.hpp"

namespace sluice::host {
namespace {

constexpr const char* kAbout =
    "Sluice decides which batch jobs start, when, and on which kind of capacity.";

constexpr const char* kFooter = R"(Each command explains itself: sluice COMMAND --help

Examples:
  sluice serve --config sluice.yaml
  sluice simulate examples/quickstart
  sluice plugin list
  sluice version)";

/// Whether anybody reads it or not: the exit status tells all the same.
void print_line(const std::string& line) {
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

void print_error(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    print_line(fmt::format("error: {}\n", text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The command that the user was typing, for the hint.
std::string chosen(const CLI::App& app) {
  std::string path = "sluice";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  return path;
}

/// What is wrong with a line that the parser refused, as a person would say it.
std::string complaint(const CLI::App& app, const CLI::ParseError& e) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  const CommandInfo known = describe_commands(*at);
  std::vector<std::string> commands, options;
  for (const CommandInfo& each : known.commands) commands.push_back(each.name());
  for (const OptionInfo& each : known.options) options.push_back(each.names.back());
  const std::vector<std::string> left = at->remaining();
  const bool is_option = !left.empty() && left.front().starts_with('-');
  if (commands.empty() && !is_option) return e.what();
  if (left.empty()) return fmt::format("which command? allowed: {}", fmt::join(commands, ", "));
  const std::vector<std::string>& allowed = is_option ? options : commands;
  const std::string word = left.front().substr(0, left.front().find('='));
  const std::string_view meant = nearest(word, allowed);
  return fmt::format("unknown {} \"{}\"{}; allowed: {}", is_option ? "option" : "command", word,
                     meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant),
                     fmt::join(allowed, ", "));
}

int bad_usage(const CLI::App& app, const CLI::ParseError& e) {
  const auto code = static_cast<CLI::ExitCodes>(e.get_exit_code());
  const bool of_names =
      code == CLI::ExitCodes::RequiredError || code == CLI::ExitCodes::ExtrasError;
  print_error(of_names ? complaint(app, e) : e.what());
  print_line(fmt::format("usage: {0} --help shows what is allowed\n", chosen(app)));
  return 2;
}

int parse_and_run(int argc, const char* const* argv) {
  CLI::App app(kAbout, "sluice");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("sluice {}", version()));
  Action action;
  add_serve_command(app, action);
  add_simulate_command(app, action);
  add_plugin_commands(app, action);
  add_store_commands(app, action);
  add_observe_command(app, action);
  add_controller_command(app, action);
  add_doctor_command(app, action);
  add_top_command(app, action);
  add_manifests_command(app, action);
  add_explain_command(app, action);
  add_submit_command(app, action);
  add_what_if_command(app, action);
  add_history_command(app, action);
  add_completion_command(app, action);
  add_manual_command(app, action);
  add_version_command(app, action);
  app.footer(kFooter);  // now: a command inherits the one that is there when it is made
  if (argc == 1) {
    fmt::print("{}", app.help());
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return bad_usage(app, e);
  }
  const Result<int> status = action();
  if (status) return *status;
  print_error(status.error().text);
  return 1;
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  try {
    // What the executor starts for each pod; users never type it, so it has no help.
    if (argc == 4 && std::string_view(argv[1]) == "pod-runner") {
      return run_pod_runner(argv[2], argv[3]);
    }
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("out of memory; give the program more of it, or less input");
  } catch (const std::exception& e) {
    print_error(e.what());
  }
  return 1;
}

}  // namespace sluice::host
