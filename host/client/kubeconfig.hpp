// Kubeconfig: which server the commands of this program talk to, and as whom: what kubectl reads.
//
// Plain values; reading may be done from any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

struct Kubeconfig {
  std::string server;                          ///< https://HOST:PORT or http://HOST:PORT
  std::string ca;                              ///< PEM; empty: the system's
  std::string token;                           ///< empty: none
  std::string client_certificate, client_key;  ///< PEM; empty: none
  bool verify = true;
  std::string ns = "default";  ///< of the context
};

/// The file to use: `wanted` if not empty, else $KUBECONFIG, else ./sluice-data/kubeconfig, else
/// ~/.kube/config: the first one that exists. An error says where it was looked for.
Result<std::string> find_kubeconfig(const std::string& wanted);

/// Its current context. Files that it names are read, too.
Result<Kubeconfig> load_kubeconfig(const std::string& path);
Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& path);

}  // namespace sluice::host
