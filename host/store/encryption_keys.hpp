// EncryptionKeys: the keys of a file, by which a store keeps Secrets unreadable on disk.
//
// A line per key, `NAME:BASE64`, 32 bytes each; what begins with # is a comment. The first one
// encrypts, all of them decrypt: a key is changed by putting a new one in front. Immutable once
// read; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

struct EncryptionKey {
  std::string name;
  std::array<unsigned char, 32> bytes{};
};

class EncryptionKeys {
 public:
  EncryptionKeys() = default;
  /// The keys of a file that only its owner may read. The error names file, line and what is
  /// allowed, and never a key.
  static Result<EncryptionKeys> read(const std::string& file);
  static Result<EncryptionKeys> parse(std::string_view text, const std::string& file);

  bool empty() const { return keys_.empty(); }
  /// By which is encrypted. REQUIRES: !empty().
  const EncryptionKey& first() const { return keys_.front(); }
  /// nullptr when there is none of this name.
  const EncryptionKey* find(std::string_view name) const;
  /// Where they were read; empty: nowhere.
  const std::string& file() const { return file_; }
  /// Takes those of another file too that have other names.
  void add(const EncryptionKeys& others);

 private:
  std::string file_;
  std::vector<EncryptionKey> keys_;
};

}  // namespace sluice::host
