// GarbageController: an object goes when none of the owners that it names exists, as Kubernetes'
// garbage collector has it. Deletion takes what an owner had when it went; this is for what comes
// later: a client that makes a child of something that was deleted a moment ago.
//
// An owner is there when it has the name and the UID. Who names one of a kind that this host does
// not have, or an object of no namespace that names one in a namespace, is left alone. It waits a
// moment, because a list of objects may be applied before those that own them.
//
// Kernel's thread.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/objects/controller.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

inline constexpr Duration kOwnersMayCome = 10 * kSecond;

class GarbageController final : public Controller {
 public:
  /// Both must outlive it.
  GarbageController(const api::Scheme& scheme, const ObjectStore& store)
      : scheme_(scheme), store_(store) {}

  std::string_view name() const override { return "garbage"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  /// It reads no status.
  bool follows(const StoredObject& object) const override {
    static_cast<void>(object);
    return false;
  }
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  bool is_garbage(const api::KindInfo& kind, const StoredObject& object) const;

  const api::Scheme& scheme_;
  const ObjectStore& store_;
  std::unordered_map<WorkKey, Time, WorkKeyHash> since_;  // when it was seen first
};

}  // namespace sluice::host
