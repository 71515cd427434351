// Command: a subcommand of `sluice`. Each lives in a file of its own and adds itself to the App;
// what it does is run after the whole command line was understood.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "core/base/result.hpp"

namespace sluice::host {

/// Set by the subcommand that was chosen; returns the exit status, or an error for exit status 1.
using Action = std::function<Result<int>()>;

void add_serve_command(CLI::App& app, Action& action);
void add_simulate_command(CLI::App& app, Action& action);
void add_observe_command(CLI::App& app, Action& action);
void add_controller_command(CLI::App& app, Action& action);
void add_doctor_command(CLI::App& app, Action& action);
void add_manifests_command(CLI::App& app, Action& action);
void add_explain_command(CLI::App& app, Action& action);
void add_submit_command(CLI::App& app, Action& action);
void add_top_command(CLI::App& app, Action& action);
void add_history_command(CLI::App& app, Action& action);
void add_what_if_command(CLI::App& app, Action& action);
void add_completion_command(CLI::App& app, Action& action);
void add_manual_command(CLI::App& app, Action& action);
void add_version_command(CLI::App& app, Action& action);

}  // namespace sluice::host
