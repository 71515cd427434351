// Carried: everything that a store in memory holds, on its way to the store that follows it when
// the configuration is reloaded. Kinds that a store does not know (of a plugin that is off) stay
// behind here and are there again for one that knows them.
//
// One thread at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/store/journal.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

class Carried {
 public:
  /// Takes what is published of all kinds of the store's scheme.
  void take(const LiveStore& store, const api::Scheme& scheme);
  /// Nothing was ever taken.
  bool empty() const { return state_.version == 0; }
  /// Loads a store with all of it; writes go nowhere. Must not outlive this.
  std::unique_ptr<Journal> journal() const;
  /// Lets go what a store of this scheme has taken over.
  void forget(const api::Scheme& scheme);

 private:
  friend class CarriedJournal;
  struct Row {
    std::string key, metadata, body, status, hidden;
    std::uint64_t version = 0;
  };
  std::map<std::string, std::vector<Row>, std::less<>> rows_;  // by kind
  JournalState state_;
};

}  // namespace sluice::host
