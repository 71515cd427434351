// CrashNote: when the process dies inside a plugin, which one it was: written by the handler of the
// fatal signal into a small file that was mapped before, and read by the process that comes after.
//
// A call is told by the board of calls (call_board.hpp); a thread of a plugin's own by the library
// whose code it runs. A plugin that ends the process with exit() is noted, too, and the process
// ends with EXIT_FAILURE then. Once per process, before plugins are loaded.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

/// How a process ended inside a plugin.
struct PluginDeath {
  std::string plugin;
  std::string sha256;  ///< of its file; empty: not known
  std::string how;     ///< `flavor-filter.filter of team-a/w, signal 11 (Segmentation fault)`
};

/// From now on deaths are noted in `file`, and told on standard error; an empty path: only told.
/// Returns what the process before left there, and forgets it.
Result<std::optional<PluginDeath>> start_crash_notes(const std::filesystem::path& file);

/// The library that `symbol` lies in is this plugin's.
void note_library(std::string_view plugin, std::string_view sha256, const void* symbol);

}  // namespace sluice::host
