// ObjectStore: every object of the process, in hub form, by kind and key.
//
// The one interface behind which objects are kept; MemoryStore is the implementation that forgets
// at exit. An object is stored as compact JSON in three parts, because they have different owners:
// metadata (with what is asked of it, see Header) and body are the user's (the body is shared by
// all objects that are alike), the status is the system's. Used by the thread that owns the Kernel;
// a StoredObject that is no longer changed may be read from any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/objects/header.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/text_pool.hpp"

namespace sluice::host {

struct StoredObject {
  const api::KindInfo* kind = nullptr;
  std::string key;      ///< `namespace/name`, or `name` for cluster-wide kinds
  Header metadata;      ///< its text is compact JSON
  TextPool::Text body;  ///< all but apiVersion, kind, metadata and status, as one JSON object
  std::string status;   ///< compact JSON; empty: none
  /// Fields of plugins that are absent, with their places, as Scheme::hide_unknown() gives them;
  /// empty: none. Kept, never shown.
  std::string hidden;
  std::uint64_t version = 0;  ///< metadata.resourceVersion; 0: not given yet

  std::string_view ns() const { return namespace_of(key); }  ///< empty: in no namespace
  std::string_view name() const { return split_key(key).name; }
};

/// Whether two versions of an object differ in nothing but status, if in that.
bool same_but_status(const StoredObject& a, const StoredObject& b);

/// What a text of a stored object holds; empty: an empty object.
boost::json::object parse_stored(std::string_view text,
                                 const boost::json::storage_ptr& storage = {});

/// The key of an object of this kind: `namespace/name`, or `name` where it is in no namespace.
std::string key_in(const api::KindInfo& kind, const boost::json::object& object);

/// Whether a member of an object is of its body: neither its type, nor metadata or status.
inline bool is_body_field(std::string_view name) {
  return name != "apiVersion" && name != "kind" && name != "metadata" && name != "status";
}

/// Splits a hub object that was admitted.
StoredObject to_stored(const api::KindInfo& kind, const boost::json::object& object,
                       TextPool& pool);

/// The text that is stored of an object's metadata: without resourceVersion, which is the store's.
std::string metadata_text(const boost::json::object& metadata);

/// The whole object again, status included; with metadata.resourceVersion where it has a version.
/// Made in `storage`, which a monotonic resource makes several times faster where many are read.
boost::json::object to_object(const StoredObject& stored, boost::json::storage_ptr storage = {});

/// The text of to_object(), put together without parsing: compact JSON in hub form.
std::string to_text(const StoredObject& stored);

/// Stored metadata without managedFields, which often are most of it and decide nothing.
std::string without_managed_fields(std::string_view metadata);

/// `to` has the managedFields of `from`, or none.
void keep_managed_fields(const boost::json::object& from, boost::json::object& to);

/// An object as plugins read it: compact JSON, without managedFields; a stored one in hub form, put
/// together without parsing.
std::string text_for_plugins(const StoredObject& stored);
std::string text_for_plugins(const boost::json::object& object);

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// nullptr when there is none. Valid until the object is put or erased.
  virtual const StoredObject* find(const api::KindInfo& kind, std::string_view key) const = 0;
  /// Creates the object or replaces its earlier form.
  virtual void put(StoredObject object) = 0;
  /// Whether there was one.
  virtual bool erase(const api::KindInfo& kind, std::string_view key) = 0;
  /// The objects of a kind in a namespace in order of their keys; `ns` empty: all. O(m log m) of m
  /// that are listed, where the store finds those of a namespace; it may look at all.
  virtual std::vector<const StoredObject*> list_in(const api::KindInfo& kind,
                                                   std::string_view ns) const = 0;
  std::vector<const StoredObject*> list(const api::KindInfo& kind) const {
    return list_in(kind, {});
  }
  virtual std::size_t count(const api::KindInfo& kind) const = 0;
};

class MemoryStore final : public ObjectStore {
 public:
  MemoryStore();
  ~MemoryStore() override;

  const StoredObject* find(const api::KindInfo& kind, std::string_view key) const override;
  void put(StoredObject object) override;
  bool erase(const api::KindInfo& kind, std::string_view key) override;
  std::vector<const StoredObject*> list_in(const api::KindInfo& kind,
                                           std::string_view ns) const override;
  std::size_t count(const api::KindInfo& kind) const override;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sluice::host
