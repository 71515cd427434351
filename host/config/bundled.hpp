// Which plugins came with this build, as their folders say (CMakeLists.txt): the host knows none of
// them by name.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

/// Those that are loaded where nothing lists any, and those that bring one of these frameworks:
/// kinds of jobs, as Kueue's configuration names them.
std::vector<std::string> bundled_plugins(const std::vector<std::string>& frameworks);

/// Whether one of them brings it.
bool is_brought_by_plugin(std::string_view framework);

}  // namespace sluice::host
