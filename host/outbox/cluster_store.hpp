// ClusterStore: the objects of a Machine that decides for a cluster: what the cluster has, and over
// it what the Machine assumes until the cluster has that, too.
//
// What the Machine puts and erases becomes edits of an Outbox; what arrives from the cluster
// (arrive(), leave()) does not. An object that the Machine makes is not here until the cluster says
// that it is there, with the identity that it gave it. Invariant: an object of which the Outbox has
// no edits is as the cluster had it in its known version. Belongs to the control thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/time.hpp"
#include "host/objects/births.hpp"
#include "host/objects/store.hpp"
#include "host/outbox/outbox.hpp"

namespace sluice::host {

class ClusterStore final : public ObjectStore, public Births {
 public:
  /// All must outlive it. `now`: by the clock of the Outbox.
  ClusterStore(ObjectStore& objects, Outbox& outbox, std::function<Duration()> now)
      : objects_(objects), outbox_(outbox), now_(std::move(now)) {}

  // ---- ObjectStore: the Machine's hands
  const StoredObject* find(const api::KindInfo& kind, std::string_view key) const override {
    return objects_.find(kind, key);
  }
  void put(StoredObject object) override;
  bool erase(const api::KindInfo& kind, std::string_view key) override;
  std::vector<const StoredObject*> list_in(const api::KindInfo& kind,
                                           std::string_view ns) const override {
    return objects_.list_in(kind, ns);
  }
  std::size_t count(const api::KindInfo& kind) const override { return objects_.count(kind); }

  // ---- Births
  bool elsewhere(const StoredObject& object) override;

  // ---- the cluster's voice
  /// From now on, until the next call, what is put of this object is a change of `object`, which
  /// the cluster has. nullptr: of what is held. It must live as long.
  void arriving(const StoredObject* object) { arriving_ = object; }
  /// From now on what is erased is gone in the cluster, too.
  void leaving(bool is) { leaving_ = is; }

  /// The version that the cluster's object had when it was last heard of; 0: never.
  std::uint64_t version(const OutboxPlace& place) const;
  void know(const OutboxPlace& place, std::uint64_t version);

 private:
  bool arrives(const StoredObject& object) const;

  ObjectStore& objects_;
  Outbox& outbox_;
  std::function<Duration()> now_;
  const StoredObject* arriving_ = nullptr;
  bool leaving_ = false;
  std::unordered_map<const api::KindInfo*, std::unordered_map<std::string, std::uint64_t>>
      versions_;
};

}  // namespace sluice::host
