// Controller: something that keeps objects in line with other objects.
//
// The kernel tells each controller of every change (changed(), in the order of the changes) and the
// controller says which of its keys have to be looked at; then reconcile() is called once per key,
// in the order in which keys were first named, until none names one any more. Controllers run in
// the order in which they were added, before the first cycle of an instant and between cycles
// (mechanisms 1). They keep no state that cannot be rebuilt: at start every object is announced as
// added. All calls come on the thread that owns the Kernel; none may block.
#pragma once

#include <algorithm>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "host/objects/object_access.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/work_key.hpp"

namespace sluice::host {

/// What happened to an object. The texts are those of the object as stored; `stored` is null when
/// it was deleted, `before` when it is new (or announced at start).
struct ObjectChange {
  const api::KindInfo* kind = nullptr;
  std::string key;
  const StoredObject* stored = nullptr;
  const StoredObject* before = nullptr;
  bool deleted() const { return stored == nullptr; }
  std::string_view ns() const { return namespace_of(key); }  ///< empty: in no namespace
};

/// What reconcile() answers when it has only begun: the key is named again when there is more.
inline constexpr Time kUnderWay = kNever - 1;

/// The one that all of these are; empty, which is all objects, where two of them differ.
inline std::string selector_of_all(const std::vector<std::string>& selectors) {
  if (selectors.empty()) return {};
  const bool same = std::all_of(selectors.begin(), selectors.end(),
                                [&](const std::string& each) { return each == selectors.front(); });
  return same ? selectors.front() : std::string();
}

class Controller {
 public:
  virtual ~Controller() = default;
  virtual std::string_view name() const = 0;
  /// Kinds (`group/Kind`, core group: `/Kind`) whose changes it wants. Asked once.
  virtual std::vector<std::string> watches() const = 0;
  /// Which objects of a kind that it watches it looks at, as a selector of labels; empty: all.
  virtual std::string selector(std::string_view kind) const {
    static_cast<void>(kind);
    return {};
  }
  /// Appends the keys that have to be looked at. Cheap.
  virtual void changed(const ObjectChange& change, std::vector<WorkKey>& keys) = 0;
  /// The same for an object that was there before the start; every other one is announced too.
  virtual void loaded(const ObjectChange& change, std::vector<WorkKey>& keys) {
    changed(change, keys);
  }
  /// The same where another host has brought the objects to rest (they were copied from it): only
  /// what has to be looked at to know what is kept in memory, and what that host did not look at
  /// yet. `owns`: other objects name it as their owner.
  virtual void resumed(const ObjectChange& change, bool owns, std::vector<WorkKey>& keys) {
    static_cast<void>(owns);
    loaded(change, keys);
  }
  /// Whether loaded() calls neither plugins nor the engine: then it is called on another thread,
  /// one call at a time, while the engine takes over the workloads.
  virtual bool loads_apart() const { return false; }
  /// Whether decisions rest on what it knows, now: then there is no cycle before it has looked once
  /// at each key that loaded() named.
  virtual bool decides() const { return false; }
  /// Whether a change of this workload's status alone could make it name a key. Asked where
  /// statuses are not written otherwise; a controller that cannot tell says yes.
  virtual bool follows(const StoredObject& workload) const {
    static_cast<void>(workload);
    return true;
  }
  /// Appends the keys that something from outside of the objects concerns. Asked before each run of
  /// the controllers; cheap when there is nothing.
  virtual void poll(std::vector<WorkKey>& keys) { static_cast<void>(keys); }
  /// Brings the objects of one key into line. Returns when the key has to be looked at again at
  /// the latest; kNever: only when something changes. An error is logged with the key and the key
  /// is tried again with a growing delay. kUnderWay: it is not known yet.
  virtual Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) = 0;
  /// How long its keys have to wait now, so that others have their turn; 0: not at all.
  virtual Duration pause() const { return 0; }
  /// The longest pause before a key whose reconcile failed is tried again.
  virtual Duration longest_retry() const { return 64 * kSecond; }
};

}  // namespace sluice::host
