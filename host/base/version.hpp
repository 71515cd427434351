// The version of the host, from the one place that states it: project() in CMakeLists.txt.
// May be called from any thread.
#pragma once

#include <string_view>

namespace sluice::host {

/// MAJOR.MINOR.PATCH.
std::string_view version();

/// In the `gitVersion` of a host's API, before the version: by it clients know that it is one.
inline constexpr std::string_view kHostMark = "+sluice-";

}  // namespace sluice::host
