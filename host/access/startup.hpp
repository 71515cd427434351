// What the host needs to be reached safely, made at its first start and found again at the next:
// CA, server certificate, the administrator's token and kubeconfig.
//
// With a store on disk the keys lie in `pki/` of the store's folder (mode 0600); a store in memory
// has new ones at each start. For the thread that starts the host, and for the one that reloads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/access/identity.hpp"
#include "host/access/pki.hpp"
#include "host/access/secrets.hpp"
#include "host/config/config.hpp"

namespace sluice::host {

/// Certificates in PEM.
struct ServerKeys {
  std::string certificate;  ///< of the server, with its issuers if tls.certFile has them
  std::string key;
  std::string client_ca;   ///< client certificates of this authority are accepted
  std::string trust;       ///< what a client has to trust
  CertifiedKey authority;  ///< our own, where it is used
  bool operator==(const ServerKeys&) const = default;
};

/// An error when the address can be reached from other machines without TLS and authentication, or
/// is no address. Names of hosts count as other machines, except localhost.
Result<void> check_exposure(const ServerConfig& server);

/// The keys to serve with: those of tls.*, or our own, which are made where they are missing, near
/// their end, not valid yet, or do not name the configured host; a server certificate also where it
/// is not of its key. `folder`: of the store; empty: in memory. To be called again on a reload and
/// now and then (KeyRenewal), with the keys from `before`, which is where own ones without a folder
/// are kept. Files that are there and cannot be read are an error, never replaced; so is an
/// authority that is not of its key.
Result<ServerKeys> prepare_keys(const ServerConfig& server, const std::string& folder,
                                std::int64_t now, const ServerKeys* before = nullptr);

/// Where the administrator's kubeconfig goes: server.kubeconfig, or `kubeconfig` in the store's
/// folder. An error when the store is in memory and no file is named.
Result<std::string> kubeconfig_path(const ServerConfig& server, const std::string& folder);

/// Writes the kubeconfig (mode 0600) for the host at `address` (HOST:PORT as it listens). The token
/// in an earlier kubeconfig goes on to be good when its digest is in `folder`/pki; else there is a
/// new one. Returns its digest.
Result<Digest> publish_kubeconfig(const std::string& path, const std::string& folder,
                                  std::string_view address, const ServerKeys& keys);

/// The kubeconfig that publish_kubeconfig() wrote gets the authority of `keys`, where it has
/// another one. A file that is gone, or no longer holds the token of this digest, is left as it is.
Result<void> update_kubeconfig(const std::string& path, std::string_view address,
                               const ServerKeys& keys, const Digest& token);

/// The user of the administrator's token: a member of system:masters.
Identity admin_identity();

/// Names and addresses by which clients may call the host that is configured so.
std::vector<std::string> server_names(const std::string& address);

}  // namespace sluice::host
