// Journal: where transactions become durable. The seam between the versioned objects in memory and
// a disk; the implementation on disk is SqliteJournal, without one everything ends with the
// process.
//
// load() runs once, before anything else; write() from one thread at a time. A journal whose
// write() failed is never written to again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

/// One object as a journal keeps it; the texts belong to the caller. `kind` is `group/Kind` (core
/// group: `/Kind`). No two rows of one write are of the same object.
struct JournalRow {
  std::string_view kind;
  std::string_view key;
  std::uint64_t version = 0;
  bool deleted = false;  ///< the texts are empty
  std::string_view metadata, body, status, hidden;
  /// row_checksum() of the row whose place it takes; nothing: the object is new.
  std::optional<std::uint64_t> replaces = std::nullopt;
};

/// Of everything that the row says, except what it replaces.
std::uint64_t row_checksum(const JournalRow& row);

/// In the place of a kind: all of them. Its last change is that of the moment when the store began
/// anew from a copy: what others saw of versions before that may never have been here.
inline constexpr std::string_view kEveryKind = "*";

/// What a journal knows beside its objects.
struct JournalState {
  std::uint64_t version = 0;  ///< of the last change that was ever written; 0: none was
  /// By kind: the version of its last change, deletions included.
  std::map<std::string, std::uint64_t, std::less<>> kinds;
  std::string fields;  ///< the last `fields` that were written
};

class Journal {
 public:
  virtual ~Journal() = default;
  /// Hands every object to `take`, in any order.
  virtual Result<JournalState> load(const std::function<void(const JournalRow&)>& take) = 0;
  /// Makes all rows durable, all or none. `version` is that of the last change. `fields`: a text to
  /// keep beside the objects from now on; empty: as it is.
  virtual Result<void> write(std::span<const JournalRow> rows, std::uint64_t version,
                             std::string_view fields) = 0;
  /// Why nothing new should be taken, so that deletions still can be written; empty: there is room.
  /// Any thread.
  virtual std::string no_room() const { return {}; }
};

}  // namespace sluice::host
