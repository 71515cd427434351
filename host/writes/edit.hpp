// Edit: one object on its way through a write: as it is, and as it is to be.
//
// It is parsed once, when the edit is opened, and each stage works on what the former one left:
// Writer makes of it what the request says, ObjectWriter judges that and seals it. Trees lie in
// memory of the edit's own, which goes as a whole. Invariant: stored() is what the store has as
// long as nothing was committed. Belongs to the kernel's thread.
#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "host/kernel/kernel.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

class Edit {
 public:
  /// `status`: of its status, else of all but that. REQUIRES: the object exists.
  Edit(const Kernel& kernel, ObjectRef ref, bool status);

  const ObjectRef& ref() const { return ref_; }
  const api::KindInfo& kind() const { return *ref_.kind; }
  bool of_status() const { return status_; }
  const StoredObject& stored() const { return *stored_; }
  /// In hub form, with its present status.
  const boost::json::object& before() const { return before_; }
  /// The same to be changed.
  boost::json::object copy() const { return boost::json::object(before_, storage()); }
  boost::json::storage_ptr storage() const { return memory_.get(); }

  /// What is to become of it, in any served version; it is not copied.
  void set_after(boost::json::object after) { after_.emplace(std::move(after)); }
  /// REQUIRES: it was set.
  boost::json::object& after() { return *after_; }

  /// Stores what is to become of it, once that was judged. What the write leaves as it is, texts
  /// and decoded parts, is taken over and not made again. Ends the edit.
  void commit(Kernel& kernel);
  /// As it would be stored.
  StoredObject preview(Kernel& kernel) const;

 private:
  PreparedObject seal_status(Kernel& kernel) const;

  ObjectRef ref_;
  bool status_;
  const StoredObject* stored_;
  std::unique_ptr<boost::json::monotonic_resource> memory_;  // outlives the trees
  boost::json::object before_;
  std::optional<boost::json::object> after_;
};

}  // namespace sluice::host
