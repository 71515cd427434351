// Journal: where transactions become durable. The seam between the versioned objects in memory and
// a disk; the implementation on disk is SqliteJournal, without one everything ends with the
// process.
//
// load() runs before anything else on the thread that opens the store; write() on the writer thread
// only. A journal whose write() failed is never written to again.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

/// One object as a journal keeps it. `kind` is `group/Kind` (core group: `/Kind`).
struct JournalRow {
  std::string kind;
  std::string key;
  std::uint64_t version = 0;
  bool deleted = false;  ///< the texts are empty
  std::string metadata, body, status, hidden;
};

class Journal {
 public:
  virtual ~Journal() = default;
  /// Hands every object to `take`; returns the last version that was ever written.
  virtual Result<std::uint64_t> load(const std::function<void(JournalRow)>& take) = 0;
  /// Makes all rows durable, all or none. `version` is that of the last change.
  virtual Result<void> write(std::span<const JournalRow> rows, std::uint64_t version) = 0;
};

}  // namespace sluice::host
