// Loading: the rows of a journal as records, made on several threads.
//
// One thread reads the rows and copies their texts into batches; the others make the records of a
// batch, and have a LoadObserver make of them whatever else a start needs, while the texts are
// still in the processor's cache.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/store/change.hpp"
#include "host/store/journal.hpp"

namespace sluice::host {

/// Is shown the records of a store while it is loaded.
class LoadObserver {
 public:
  virtual ~LoadObserver() = default;
  /// How many lanes there are. Once, before anything is read.
  virtual void begin(std::size_t lanes) = 0;
  /// Records that lie in the journal one after the other; `batch` counts from 0 in its order. Each
  /// lane is one thread; several lanes call at once.
  virtual void read(std::size_t lane, std::size_t batch, std::span<const RecordPtr> records) = 0;
};

struct LoadedRecords {
  JournalState state;
  std::vector<RecordPtr> records;  ///< in the order of the journal
};

/// Reads all rows of the kinds that are named (`group/Kind`); others are left out.
Result<LoadedRecords> load_records(Journal& journal,
                                   const std::map<std::string_view, const api::KindInfo*>& kinds,
                                   LoadObserver* observer);

/// Puts records of one kind in order of their keys. An error when a key is there twice.
Result<void> sort_by_key(std::vector<RecordPtr>& records);

}  // namespace sluice::host
