// Deletion: how objects end: finalizers, grace periods, and what ends with them.
//
// Everything that follows from one DELETE and waits for nothing happens in the same transaction:
// dependents of a deleted owner are deleted (background), or first (foreground), or lose the
// reference (orphan); the objects of a namespace go with it. What has finalizers or a grace period
// is only marked, and what waits for it is looked at again when it is gone. Dependents are worked
// off a list, each once, so that no chain of owners is too deep and no web of them costs more than
// its references. Owners that wait for each other in a circle, or for themselves, go together as
// soon as nothing else holds one of them. Belongs to the kernel's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/kernel/kernel.hpp"
#include "host/kernel/object_index.hpp"
#include "host/objects/api_error.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// The namespaces that every host has cannot be deleted; nullopt: this object can.
std::optional<ApiError> refuses_to_go(const ObjectRef& ref);

class Deletion {
 public:
  /// Of an object that is deleted while it is in use: the finalizer that holds it until somebody
  /// takes it off; empty: it may go.
  using Holder = std::function<std::string_view(const ObjectRef&)>;

  Deletion(Kernel& kernel, const ObjectIndex& index) : kernel_(kernel), index_(index) {}

  void hold(Holder holder) { holder_ = std::move(holder); }

  /// REQUIRES: the object exists. Whether it is gone now.
  bool remove(const ObjectRef& ref, Propagation propagation,
              std::optional<std::int64_t> grace_seconds);
  /// An object that is terminating was written: removes it when nothing holds it any more. Whether
  /// it is gone now.
  bool written(const ObjectRef& ref);

 private:
  struct Doomed {
    ObjectRef ref;
    Propagation propagation;
    std::optional<std::int64_t> grace_seconds;
  };
  void work_off();
  void begin(const Doomed& doomed);
  void mark(const ObjectRef& ref, boost::json::object object, std::int64_t grace_seconds);
  void shorten(const ObjectRef& ref, boost::json::object object, std::int64_t grace_seconds);
  void doom_in_foreground(const ObjectRef& ref);
  void erase(const ObjectRef& ref);
  void after_erase(const ObjectRef& ref, const Header& header);
  std::vector<ObjectRef> dependents_of(const ObjectRef& owner, std::string_view uid) const;
  bool waits_for_dependents(const ObjectRef& ref, std::string& uid) const;
  bool release(const ObjectRef& ref, std::size_t most);
  void leave_dependents(const ObjectRef& owner, std::string_view uid);
  void empty_namespace(const ObjectRef& ref);
  void owners_of_erased(std::string_view ns, const Header& header);
  /// nullptr when there is no such object; valid until it changes.
  const Header* header_of(const ObjectRef& ref) const;
  void store(const ObjectRef& ref, const boost::json::object& object);

  Kernel& kernel_;
  const ObjectIndex& index_;
  std::deque<Doomed> doomed_;
  Holder holder_;                    // may be empty
  ObjectIndex::Refs in_foreground_;  ///< on the list, or done, since it was last empty
  bool working_ = false;
};

}  // namespace sluice::host
