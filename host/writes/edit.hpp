// Edit: one object on its way through a write: as it is, and as it is to be.
//
// It is parsed once, when the edit is opened, and each stage works on what the former one left:
// Writer makes of it what the request says, Drafter judges that and seals it. Trees lie in memory
// of the edit's own, which goes as a whole. Invariant: stored() is what the view held in which the
// edit was opened. Used by one thread at a time.
#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/objects/object_access.hpp"
#include "host/store/change.hpp"

namespace sluice::host {

class Edit {
 public:
  /// Of a new object of this kind.
  explicit Edit(const api::KindInfo& kind);
  /// Of one that is there: `stored`, in hub form with its present status `before`, which was made
  /// in `memory`. `status`: of its status, else of all but that.
  Edit(ObjectRef ref, RecordPtr stored, bool status,
       std::unique_ptr<boost::json::monotonic_resource> memory, boost::json::object before);

  static std::unique_ptr<boost::json::monotonic_resource> memory();

  const ObjectRef& ref() const { return ref_; }
  /// What a new object is called.
  void set_key(std::string key) { ref_.key = std::move(key); }
  /// The key without the namespace.
  std::string name() const { return std::string(ref_.name()); }
  const api::KindInfo& kind() const { return *ref_.kind; }
  bool of_status() const { return status_; }
  bool is_new() const { return !stored_; }
  /// REQUIRES: it is not new.
  const StoredObject& stored() const { return *stored_; }
  /// In hub form, with its present status; nullptr: there was none.
  const boost::json::object* before() const { return stored_ ? &before_ : nullptr; }
  /// The same to be changed.
  boost::json::object copy() const { return boost::json::object(before_, storage()); }
  boost::json::storage_ptr storage() const { return memory_.get(); }

  /// What is to become of it, in any served version; it is not copied.
  void set_after(boost::json::object after) { after_.emplace(std::move(after)); }
  /// REQUIRES: it was set.
  boost::json::object& after() { return *after_; }
  const boost::json::object& after() const { return *after_; }

 private:
  ObjectRef ref_;
  bool status_ = false;
  RecordPtr stored_;                                         // null: it is new
  std::unique_ptr<boost::json::monotonic_resource> memory_;  // outlives the trees
  boost::json::object before_;
  std::optional<boost::json::object> after_;
};

}  // namespace sluice::host
