// ObjectIndex: which objects own which, and how many objects each namespace holds.
//
// Kept in step with the store by update(), called for every change just before it takes effect.
// Objects that own nothing and are not owned cost one entry. Belongs to the kernel's thread.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/kernel/uid_table.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class ObjectIndex {
 public:
  enum class Uids { kNotKept, kKept };
  /// kKept: find() can be asked, for an entry more per object.
  explicit ObjectIndex(Uids uids = Uids::kNotKept) : uids_(uids) {}

  void update(const ObjectChange& change);

  struct Less {
    bool operator()(const ObjectRef& a, const ObjectRef& b) const;
  };
  using Refs = std::set<ObjectRef, Less>;

  /// What names this UID among its ownerReferences, in order of kind and key.
  std::vector<ObjectRef> owned_by(std::string_view uid) const;
  /// The same without a copy, until the next update().
  const Refs& dependents(std::string_view uid) const;
  /// nullptr when nothing that exists has the UID. REQUIRES: UIDs are kept.
  const ObjectRef* find(std::string_view uid) const;
  /// Objects in a namespace.
  std::size_t in_namespace(std::string_view ns) const;

 private:
  void note_uid(const ObjectChange& change);

  Uids uids_;
  UidTable by_uid_;
  std::unordered_map<std::string, Refs> owned_;
  std::map<std::string, std::size_t, std::less<>> namespaces_;
};

}  // namespace sluice::host
