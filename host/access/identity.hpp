// Identity: the user that makes a request, as authentication established it, with all its groups. A
// plain value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

/// The group of all plugins, which write under names of their own.
inline constexpr std::string_view kPluginsGroup = "system:plugins";

/// How the users begin that plugins write as; behind it stands the plugin's name.
inline constexpr std::string_view kPluginUsers = "system:plugin:";
inline std::string plugin_user(std::string_view plugin) {
  return std::string(kPluginUsers).append(plugin);
}
/// The plugin that writes as this user; empty: it is none.
inline std::string_view plugin_of_user(std::string_view user) {
  return user.starts_with(kPluginUsers) ? user.substr(kPluginUsers.size()) : std::string_view();
}

struct Identity {
  std::string user;  ///< empty: anonymous, which only health and version endpoints serve
  std::string uid;
  std::vector<std::string> groups;
  std::string impersonator{};  ///< the user that really asks; empty: `user` itself
};

}  // namespace sluice::host
