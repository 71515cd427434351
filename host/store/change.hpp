// What the store of a running host tells: records, changes of them, and cuts through them. All are
// immutable once published and may be read from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/time.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

using RecordPtr = std::shared_ptr<const StoredObject>;

enum class ChangeType : std::uint8_t { kAdded, kModified, kDeleted };

/// One published change. `object` of a deletion is the last form, with the version of the deletion.
struct Change {
  ChangeType type = ChangeType::kAdded;
  RecordPtr object;
  RecordPtr before;    ///< null when it is new
  Time published = 0;  ///< by the time of day; only of what was taken from a store's history
  std::uint64_t version() const { return object->version; }
};

/// A consistent cut of one kind at one version, in order of keys.
struct Listing {
  std::uint64_t version = 0;
  std::vector<RecordPtr> objects;
  bool more = false;          ///< the limit ended it
  std::size_t remaining = 0;  ///< objects after it
};

/// What is kept for watches, over all kinds: as much as all allow. The most that a busy host keeps
/// is for watchers that are some seconds behind; for those who come back later there is less.
struct HistoryLimits {
  std::size_t changes = 200'000;
  std::size_t bytes = 64U << 20;
  std::size_t old_bytes = 16U << 20;  ///< beyond these, what is older than old_after goes
  Duration old_after = 15 * kSecond;
};

}  // namespace sluice::host
