// `sluice plugin install|sign|verify`: plugins from elsewhere, and who vouches for them.
//
// add_plugin_install_commands() sets `action` to what was chosen, when the command line was
// understood. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "core/base/result.hpp"

namespace sluice::host {

/// To the command `sluice plugin`.
void add_plugin_install_commands(CLI::App& plugin, std::function<Result<int>()>& action);

}  // namespace sluice::host
