// Identity: the user that makes a request, as authentication established it, with all its groups. A
// plain value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

/// The group of all plugins, which write under names of their own.
inline constexpr std::string_view kPluginsGroup = "system:plugins";

struct Identity {
  std::string user;  ///< empty: anonymous, which only health and version endpoints serve
  std::string uid;
  std::vector<std::string> groups;
  std::string impersonator{};  ///< the user that really asks; empty: `user` itself
};

}  // namespace sluice::host
