// Trial: plugins are loaded, created and destroyed in a process of its own before they are in this
// one, so that one that crashes or hangs there takes nobody along.
//
// try_plugins() starts this program again, as `sluice plugin try`, which calls run_trial(). Nothing
// is activated, and the plugins are told that it is a simulation. Those that have a process of
// their own anyhow are left out. One thread at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

#include "core/base/result.hpp"
#include "host/config/config.hpp"

namespace sluice::host {

/// The error is the one that loading gives, or says in which call the process died, hung, or was
/// ended, with whatever status. `program`: the one to start.
Result<void> try_plugins(const std::filesystem::path& directory,
                         const std::vector<PluginConfig>& plugins,
                         std::chrono::milliseconds timeout = std::chrono::seconds(30),
                         const std::filesystem::path& program = "/proc/self/exe");

/// The other side: reads what to load from standard input. An error is why it cannot be.
Result<void> run_trial();

}  // namespace sluice::host
