// `sluice plugin inspect|validate|list`: the subcommands for operators and authors of plugins.
//
// add_plugin_commands() sets `action` to what was chosen, when the command line was understood.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "core/base/result.hpp"

namespace sluice::host {

/// The action prints its result on stdout and returns the exit status, or an error.
void add_plugin_commands(CLI::App& app, std::function<Result<int>()>& action);

}  // namespace sluice::host
