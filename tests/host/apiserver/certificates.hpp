// Certificates made on the spot for tests: a CA, a server, clients.
// Pure functions of their arguments and of the random numbers of OpenSSL; any thread.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

namespace sluice::host::test {

/// A key with its certificate; `pem` and `key_pem` are what a TlsOptions takes.
struct Certificate {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;
  std::string pem, key_pem;
};

/// Issued by `issuer`, or by itself. Valid for an hour.
Certificate make_certificate(const std::string& common_name,
                             const std::vector<std::string>& organizations = {},
                             const Certificate* issuer = nullptr);

}  // namespace sluice::host::test
