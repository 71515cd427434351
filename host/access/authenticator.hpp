// Authenticator: establishes which user makes a request. Called once per request, before the
// Authorizer.
//
// Implementations answer from memory, in microseconds, from any thread, and give the reason of a
// refusal without repeating a secret.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/access/identity.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// Subject of a client certificate that TLS verified against the client CA.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  /// When it, or one of its issuers, is no longer valid; seconds since 1970.
  std::int64_t ends = std::numeric_limits<std::int64_t>::max();
};

/// What a request offers as proof, as it stands in the headers.
struct Credentials {
  std::string_view authorization;                   ///< `Bearer …`, `Basic …`; empty: no header
  const CertificateSubject* certificate = nullptr;  ///< nullptr: none, or none that was verified
  std::string_view impersonate_user;                ///< empty: no impersonation
  std::string_view impersonate_uid;
  std::vector<std::string_view> impersonate_groups;
  /// Impersonate-Extra-* was sent. Such a request is refused: extras are not kept.
  bool impersonate_extra = false;
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  /// Without credentials: an Identity without user. Wrong credentials: 401. A user that may not
  /// impersonate: 403.
  virtual ApiResult<Identity> identify(const Credentials& credentials) const = 0;
};

}  // namespace sluice::host
