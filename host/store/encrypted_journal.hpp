// EncryptedJournal: the Journal on disk in which Secrets are unreadable to whoever has no key.
//
// Every host with a store on disk has one, also without keys: it is what refuses a store that is
// encrypted. load() brings all Secrets into the form that is asked for: one whose key is not the
// first one, or that lies there in plain, is written anew, and the last traces of plain texts are
// taken out of the database's free pages and its log. As its Journal: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/store/encryption_keys.hpp"
#include "host/store/sqlite_journal.hpp"

namespace sluice::host {

struct Encryption {
  EncryptionKeys keys;  ///< empty: nothing is encrypted, and nothing can be decrypted
  bool enabled = true;  ///< false: the keys only decrypt; everything is written in plain
  bool writes() const { return enabled && !keys.empty(); }
};

class EncryptedJournal final : public Journal {
 public:
  EncryptedJournal(std::unique_ptr<SqliteJournal> journal, Encryption encryption)
      : journal_(std::move(journal)), encryption_(std::move(encryption)) {}

  Result<JournalState> load(const std::function<void(const JournalRow&)>& take) override;
  Result<void> write(std::span<const JournalRow> rows, std::uint64_t version,
                     std::string_view fields) override;
  std::string no_room() const override { return journal_->no_room(); }

 private:
  struct Copy;
  Result<void> rewrite(const std::vector<Copy>& copies);

  const std::unique_ptr<SqliteJournal> journal_;
  const Encryption encryption_;
  // Of Secrets, by key: row_checksum() of what is on the disk, which is not what it means.
  std::unordered_map<std::string, std::uint64_t> on_disk_;
};

}  // namespace sluice::host
