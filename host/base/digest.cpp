#include "host/base/digest.hpp"

#include <openssl/evp.h>

#include <span>

#include "core/base/check.hpp"
#include "core/base/text.hpp"

namespace sluice::host {
namespace {

std::string hex_of(std::span<const unsigned char> bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) append_hex(byte, out);
  return out;
}

}  // namespace

Digest sha256(std::string_view text) {
  Digest out{};
  const int done = EVP_Digest(text.data(), text.size(), out.data(), nullptr, EVP_sha256(), nullptr);
  SLUICE_CHECK(done == 1, "SHA-256 is not available");
  return out;
}

std::string to_hex(const Digest& digest) { return hex_of(digest); }

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, 20> out{};
  const int done = EVP_Digest(text.data(), text.size(), out.data(), nullptr, EVP_sha1(), nullptr);
  SLUICE_CHECK(done == 1, "SHA-1 is not available");
  return hex_of(out);
}

}  // namespace sluice::host
