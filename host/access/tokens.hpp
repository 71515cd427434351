// TokenTable: which bearer token belongs to which user. Holds digests only, never a token.
//
// Filled at start (or for a reload into a new one), then only read: any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/access/identity.hpp"
#include "host/access/secrets.hpp"

namespace sluice::host {

class TokenTable {
 public:
  /// Reads lines `TOKEN,USER,UID[,"GROUP,GROUP"]` as of Kubernetes' static token file, where TOKEN
  /// may also be `sha256:` and the hexadecimal digest of the token. Empty lines and lines that
  /// begin with `#` count for nothing. An error names `file:line` and no token; then the table is
  /// unchanged.
  Result<void> add_csv(std::string_view text, const std::string& file);

  /// False when the token is known already.
  bool add(const Digest& digest, Identity identity);

  /// nullptr: not in the table. Takes the same time for all wrong tokens.
  const Identity* find(std::string_view token) const;
  bool has(const Digest& digest) const { return lookup(digest) != nullptr; }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Digest digest;
    Identity identity;
  };
  const Identity* lookup(const Digest& digest) const;

  std::multimap<std::uint64_t, Entry> entries_;  // by the first bytes of the digest
};

/// One line of the table: the token's digest and its user.
std::string token_line(const Digest& digest, const Identity& identity);

}  // namespace sluice::host
