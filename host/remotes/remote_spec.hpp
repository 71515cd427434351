// RemoteSpec: what a plugin says about a remote: whence its credentials, which kinds to follow; and
// what becomes of it: the server and the credentials, or why there are none.
//
// Values and functions of them; any thread. Reading a file is the only effect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "host/client/kubeconfig.hpp"

namespace sluice::host {

struct RemoteKind {
  const api::KindInfo* kind = nullptr;
  std::string api_version;  ///< in which its objects are read and written
  std::string labels;       ///< a selector; empty: all
  bool operator==(const RemoteKind&) const = default;
};

struct RemoteSpec {
  std::string kubeconfig;  ///< its text, or empty
  std::string file;        ///< where it is, or empty
  std::vector<RemoteKind> kinds;
  bool operator==(const RemoteSpec&) const = default;
};

/// As svc/remotes.h has it. An error names what is wrong, and what is allowed.
Result<RemoteSpec> parse_remote_spec(std::string_view text, const api::Scheme& scheme);

/// Why a remote cannot be connected to.
struct RemoteProblem {
  std::string what;  ///< as in svc/remotes.h; empty: nothing
  std::string message;
};

/// The text of the kubeconfig as it is now.
Result<std::string> read_remote_kubeconfig(const RemoteSpec& spec);

/// Credentials of a text. `own_file`: it is a file of this machine, which may name others.
Result<Kubeconfig> remote_credentials(const std::string& text, bool own_file,
                                      const std::string& path, RemoteProblem& problem);

}  // namespace sluice::host
