// Kubeconfig: which server the commands of this program talk to, and as which user: what kubectl
// reads.
//
// Plain values; reading may be done from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace sluice::host {

struct Kubeconfig {
  std::string server;      ///< https://HOST:PORT or http://HOST:PORT
  std::string ca;          ///< PEM; empty: the system's
  std::string token;       ///< empty: none
  std::string token_file;  ///< where the token came from and is renewed; empty: it never changes
  std::string client_certificate, client_key;  ///< PEM; empty: none
  std::string names_file;  ///< the key that names a file which was not read; empty: none does
  bool verify = true;
  std::string ns = "default";  ///< of the context
};

/// The file to use: `wanted` if not empty, else $KUBECONFIG if that is set, else of
/// ./sluice-data/kubeconfig and ~/.kube/config the first that exists. An error says where it was
/// looked for.
Result<std::string> find_kubeconfig(const std::string& wanted);

/// What becomes of other files that a kubeconfig names: those of one that somebody else wrote are
/// not read.
enum class NamedFiles : std::uint8_t { kRead, kNoted };

/// The named context, or with an empty name the current one. Files that it names are read, too.
/// Credentials that come from another program are an error: none is ever run.
Result<Kubeconfig> load_kubeconfig(const std::string& path, const std::string& context = {});
Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& path,
                                    const std::string& context = {},
                                    NamedFiles files = NamedFiles::kRead);

/// Where a pod finds its ServiceAccount.
inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

/// As the ServiceAccount of the pod in which this program runs; nullopt: it runs in none.
/// `address`: of the API server, as a pod's environment names it (HOST:PORT; empty: it does not).
Result<std::optional<Kubeconfig>> service_account(const std::string& address,
                                                  const std::string& folder);
/// The same of this process.
Result<std::optional<Kubeconfig>> own_service_account();

/// That of find_kubeconfig() and load_kubeconfig(); where both are empty, in a pod, as its
/// ServiceAccount.
Result<Kubeconfig> cluster_of(const std::string& kubeconfig, const std::string& context);

/// The token as it is now: those of files are renewed now and then.
Result<std::string> present_token(const Kubeconfig& config);

}  // namespace sluice::host
