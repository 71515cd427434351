// What `sluice store` does with a store on disk, whether a host has it open or not: check it, copy
// it, write it out as manifests, put a copy in its place. Nothing but the last changes it, and that
// only while no host has it. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "host/store/encryption_keys.hpp"
#include "host/store/journal.hpp"

namespace sluice::host {

struct StoreReport {
  std::string file;
  std::uint64_t version = 0;
  struct KindCount {
    std::string kind;  ///< `group/Kind`
    std::size_t objects = 0;
    std::uint64_t version = 0;  ///< of the last change
    bool known = false;         ///< to the scheme
  };
  std::vector<KindCount> kinds;
  std::size_t objects = 0;
  std::map<std::string, std::size_t> encrypted;  ///< objects by the name of their key
  std::size_t unread = 0;                        ///< of these, for want of keys: not judged
  std::vector<std::string> problems;             ///< the first kMostProblems
  std::size_t all_problems = 0;

  static constexpr std::size_t kMostProblems = 100;
  void add(std::string problem);
  /// What is said about the objects comes after what is there.
  void append(StoreReport objects_report);
};

/// Looks at everything: the pages of the database, the checksum of each object, its version, and
/// whether it still passes the scheme. `path`: the folder of a store, or a backup file. Without
/// keys, what is encrypted is not judged. An error where there is no store to look at.
Result<StoreReport> check_store(const std::string& path, const api::Scheme& scheme,
                                const EncryptionKeys& keys = {});

/// Copies the store into a new file, as of one moment, and checks the copy. Returns its version.
Result<std::uint64_t> back_up_store(const std::string& path, const std::string& file);

/// Puts a backup, or another store, in the place of the store at `path`; what was there before is
/// kept beside it, as replaced.db. Returns its version. An error while a host has the store open.
Result<std::uint64_t> restore_store(const std::string& path, const std::string& backup);

struct ExportOptions {
  bool yaml = true;
  std::vector<std::string> kinds;  ///< names as kubectl takes them; empty: all
  EncryptionKeys keys = {};        ///< for what is encrypted
};

/// Writes the objects as one List: first what others refer to, then by name. `append` takes the
/// text piece by piece. Returns how many there are.
Result<std::size_t> export_store(const std::string& path, const api::Scheme& scheme,
                                 const ExportOptions& options,
                                 const std::function<void(const std::string&)>& append);

}  // namespace sluice::host
