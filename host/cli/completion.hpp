// Completion: the scripts by which bash, zsh and fish complete a line of `sluice`. They know
// commands, options, and values where those are a fixed list, a file or a folder; they run nothing.
// Pure functions, any thread.
#pragma once

#include <string>

#include "host/cli/command_tree.hpp"

namespace sluice::host {

std::string bash_completion(const CommandInfo& program);
std::string zsh_completion(const CommandInfo& program);
std::string fish_completion(const CommandInfo& program);

}  // namespace sluice::host
