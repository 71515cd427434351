// A small certificate authority: the host's own CA, its server certificate, and certificates for
// clients. ECDSA on P-256, everything in PEM.
//
// Pure functions of their arguments and of the system's random numbers; any thread. Times are
// seconds since 1970.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

struct asn1_string_st;

namespace sluice::host {

struct CertifiedKey {
  std::string certificate;
  std::string key;
  bool operator==(const CertifiedKey&) const = default;
};

/// Valid for ten years from now.
Result<CertifiedKey> make_authority(std::string_view common_name, std::int64_t now);

/// The authority with its key and its name, valid from now on for ten years or until its old end,
/// whichever is later. What it issued, and what trusts the old certificate, stays good.
Result<CertifiedKey> predate_authority(const CertifiedKey& authority, std::string_view common_name,
                                       std::int64_t now);

/// A server certificate for these IP addresses and DNS names, valid for a year.
Result<CertifiedKey> issue_server(const CertifiedKey& authority,
                                  const std::vector<std::string>& names, std::int64_t now);

/// A time as OpenSSL has it (ASN1_TIME), in seconds since 1970.
Result<std::int64_t> seconds_of(const asn1_string_st* time);

struct Validity {
  std::int64_t begins = 0;
  std::int64_t ends = 0;
};

/// When the first certificate of the text is valid.
Result<Validity> validity_of(std::string_view certificate);
/// The end of it.
Result<std::int64_t> expiry_of(std::string_view certificate);

/// An error when a certificate of the text is cut or broken; it names the line.
/// OpenSSL ends to read there without a word, and who trusts what follows is not trusted.
Result<void> check_certificates(std::string_view text);

/// Whether the first certificate of the text was issued by this authority, belongs to `key`, and
/// names all of `names`.
Result<bool> is_server_certificate(const CertifiedKey& server, std::string_view authority,
                                   const std::vector<std::string>& names);

/// Whether key and (first) certificate belong together; an error when one cannot be read.
Result<bool> belong_together(const CertifiedKey& pair);

/// What a client has to trust to talk to a server with this certificate file: the certificates of
/// its issuers, or its own when the file holds no other.
std::string trust_anchor_of(std::string_view certificates);

}  // namespace sluice::host
