// ForkStore: the objects of a running host at one moment, to be changed beside it without any
// effect on the host.
//
// The host's records are shared, no text is copied; what is written lies over them and is gone with
// the store. Invariant: the shared records are one consistent cut, that of version(). Made on any
// thread, then used by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "host/objects/store.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

class ForkStore final : public ObjectStore {
 public:
  /// What is published at `version`. The store of the host need not outlive it. An error when so
  /// much was written meanwhile that this version is no longer kept: try again. O(objects), in
  /// pages between which writers have their turn.
  static Result<std::unique_ptr<ForkStore>> make(const api::Scheme& scheme, const LiveStore& host,
                                                 std::uint64_t version);

  std::uint64_t version() const { return version_; }

  const StoredObject* find(const api::KindInfo& kind, std::string_view key) const override;
  void put(StoredObject object) override;
  bool erase(const api::KindInfo& kind, std::string_view key) override;
  std::vector<const StoredObject*> list_in(const api::KindInfo& kind,
                                           std::string_view ns) const override;
  std::size_t count(const api::KindInfo& kind) const override;

 private:
  struct Table {
    std::vector<RecordPtr> shared;  // in order of their keys
    // What was written, by key; nullptr: it is gone.
    std::unordered_map<std::string, std::unique_ptr<StoredObject>> own;
    std::size_t count = 0;
  };

  ForkStore() = default;
  static const StoredObject* shared(const Table& table, std::string_view key);

  std::unordered_map<const api::KindInfo*, Table> tables_;
  std::uint64_t version_ = 0;
  std::uint64_t last_ = 0;  // version of the last change here
};

}  // namespace sluice::host
