#include "host/cli/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "host/base/version.hpp"
#include "host/cli/command.hpp"
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

void print_error(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    fmt::print(stderr, "error: {}\n", text.substr(0, end));
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

/// `which command? allowed: inspect, list`, where the user stopped before one; else empty.
std::string missing_command(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  std::string names;
  for (const CLI::App* each : at->get_subcommands([](const CLI::App*) { return true; }))
    names += (names.empty() ? "" : ", ") + each->get_name();
  return names.empty() ? names : "which command? allowed: " + names;
}

int bad_usage(const CLI::App& app, const CLI::ParseError& e) {
  const std::string missing = e.get_name() == "RequiredError" ? missing_command(app) : "";
  print_error(missing.empty() ? std::string_view(e.what()) : std::string_view(missing));
  fmt::print(stderr, "usage: {0} --help shows what is allowed\n", chosen(app));
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
  add_explain_command(app, action);
  add_submit_command(app, action);
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
    // What the executor starts for each pod; nobody types it, so it has no help.
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
