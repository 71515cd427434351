// The version of the host, from the one place that states it: project() in CMakeLists.txt.
// May be called from any thread.
#pragma once

#include <string_view>

namespace sluice::host {

/// MAJOR.MINOR.PATCH.
std::string_view version();

}  // namespace sluice::host
