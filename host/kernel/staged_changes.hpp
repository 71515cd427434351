// StagedChanges: changes that were made but have not taken effect: an ObjectStore that shows what a
// store will hold once they do, and the list of them in their order.
//
// The store below is only read. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "host/objects/intake.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

/// An object that is to go.
struct StagedErase {
  const api::KindInfo* kind = nullptr;
  std::string key;
};

using StagedChange = std::variant<PreparedObject, StagedErase>;

class StagedChanges final : public ObjectStore {
 public:
  /// `below` must outlive it.
  explicit StagedChanges(const ObjectStore& below) : below_(below) {}

  void add(PreparedObject object);
  void add(StagedErase erase);
  /// Whether this is what a change made of the object: its status is as it was written, in full.
  bool changed(const StoredObject& stored) const {
    return below_.find(*stored.kind, stored.key) != &stored;
  }
  std::vector<StagedChange> take() { return std::exchange(changes_, {}); }
  /// The first object that was changed below since a change was made of it; nullopt: none was.
  std::optional<StagedErase> overtaken() const;

  // ObjectStore; the version of a changed object is the one that it replaces.
  const StoredObject* find(const api::KindInfo& kind, std::string_view key) const override;
  void put(StoredObject object) override;
  bool erase(const api::KindInfo& kind, std::string_view key) override;
  std::vector<const StoredObject*> list_in(const api::KindInfo& kind,
                                           std::string_view ns) const override;
  /// O(staged changes of the kind).
  std::size_t count(const api::KindInfo& kind) const override;

 private:
  struct Change {
    std::uint64_t base = 0;                // version of what it replaces; 0: nothing was there
    std::unique_ptr<StoredObject> object;  // null: erased
  };
  using Table = std::map<std::string, Change, std::less<>>;

  Change& change_of(const api::KindInfo& kind, const std::string& key);

  const ObjectStore& below_;
  std::map<const api::KindInfo*, Table> tables_;
  std::vector<StagedChange> changes_;
};

}  // namespace sluice::host
