// `sluice store check|backup|export`: the subcommands for operators of a store on disk. Called
// once, by main, on its thread.
#pragma once

#include <CLI/CLI.hpp>

#include "host/cli/command.hpp"

namespace sluice::host {

void add_store_commands(CLI::App& app, Action& action);

}  // namespace sluice::host
