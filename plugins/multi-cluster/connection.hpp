// How a MultiKueueCluster is reached, and what its condition Active says.
//
// Pure functions of objects and of what the host knows of a remote; any thread.
#pragma once

#include <sluice/plugin.hpp>

#include <optional>
#include <string>

namespace clusters {

/// Whence address and credentials come.
struct Whence {
  std::string secret;  ///< its name, or …
  std::string path;    ///< … of a file
  std::string reason;  ///< else why it cannot be reached: reason and message of the condition
  std::string wrong;
};

/// `folder`: below which files may be.
Whence whence_of(const sluice::Json& cluster, const std::string& folder);

struct Active {
  bool active = false;
  std::string reason, message;
  bool operator==(const Active&) const = default;
};

/// nullopt: nothing is known yet, and what the condition says stays.
std::optional<Active> active_of(const sluice::RemoteState& state);

/// Of an AdmissionCheck with these clusters, of which some are missing or not active.
Active check_active(const std::vector<std::string>& clusters,
                    const std::vector<std::string>& missing,
                    const std::vector<std::string>& inactive);

/// The text of a key of a Secret; nullopt: it has none, or it is not base64.
std::optional<std::string> secret_text(const sluice::Json& secret, std::string_view key);

}  // namespace clusters
