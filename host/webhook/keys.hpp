// WebhookKeys: what a webhook identifies itself with to API servers: a certificate authority of its
// own and a server certificate, kept in a Secret that all replicas share.
//
// A certificate of a new authority may be served only when API servers trust that authority: one
// that takes over is in the trust for a day before it issues the certificate that is served. Pure
// functions; any thread. Times are seconds since 1970.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/access/pki.hpp"

namespace sluice::host {

struct WebhookKeys {
  std::string trust;          ///< PEM; the first certificate is that of the authority that issues
  std::string authority_key;  ///< empty: files that another program renews
  CertifiedKey server;
  bool operator==(const WebhookKeys&) const = default;
};

/// What to serve with from now on, for all of `names`: made anew, in part or in full, where
/// `present` is missing or near its end; nullopt: as it is.
Result<std::optional<WebhookKeys>> renewed(const std::optional<WebhookKeys>& present,
                                           const std::vector<std::string>& names, std::int64_t now);

/// The keys in files, which another program renews. `trust_file` empty: those that are in the
/// certificate's file beside it, or itself.
Result<WebhookKeys> keys_of_files(const std::string& certificate_file, const std::string& key_file,
                                  const std::string& trust_file);

/// Of a Secret's data; nullopt: something is missing, or cannot be read.
std::optional<WebhookKeys> keys_of_secret(const boost::json::object& secret);
boost::json::object secret_data(const WebhookKeys& keys);

}  // namespace sluice::host
