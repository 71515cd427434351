// Man pages: one per command, in the man macros, from what the program says of itself. The same
// program gives the same bytes: no date, no path. Pure functions, any thread.
#pragma once

#include <string>

#include "host/cli/command_tree.hpp"

namespace sluice::host {

/// `sluice-plugin-new`: the name of a command's page, without its section.
std::string man_page_name(const CommandInfo& command);
std::string man_page(const CommandInfo& command);

}  // namespace sluice::host
