// How the row of a Secret is encrypted: AES-256-GCM, with a key of its own for each writing.
//
// That key is derived (HMAC-SHA-256) from the file's key and 32 random bytes, which are kept with
// the row; so no number of writes wears a key out. All texts of the row are encrypted, since the
// annotation of an apply repeats the data; what the row is (kind, key, version) is signed along,
// so that no row can be put in the place of another. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/store/encryption_keys.hpp"
#include "host/store/journal.hpp"

namespace sluice::host {

/// The texts of a row.
struct RowTexts {
  std::string metadata, body, status, hidden;
};

/// Kinds whose rows are encrypted, as a journal names them.
bool is_secret_kind(std::string_view kind);

bool is_encrypted(const JournalRow& row);
/// The name of the key by which it is encrypted. REQUIRES: is_encrypted(row).
std::string_view key_name_of(const JournalRow& row);

/// The row with these texts, which stay the caller's, in the place of its own.
JournalRow with_texts(JournalRow row, const RowTexts& texts);

/// What stands in the row's body instead of its texts; the other three are empty then.
Result<std::string> encrypted_body(const JournalRow& row, const EncryptionKey& key);
/// REQUIRES: is_encrypted(row). The error names the row and what may be wrong.
Result<RowTexts> decrypted(const JournalRow& row, const EncryptionKeys& keys);

}  // namespace sluice::host
