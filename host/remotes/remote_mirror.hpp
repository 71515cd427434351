// RemoteMirror: the objects of one remote as its server handed them on, and which of them somebody
// has to look at.
//
// Objects are kept as compact JSON, without managedFields. What a list does not name any more is
// gone when the list ends. Invariant: bytes() and size() are those of what is kept. Not locked: its
// owner does.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/schema/kind_info.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {

/// An object of a kind, by `namespace/name` or `name`.
struct RemoteKey {
  const api::KindInfo* kind = nullptr;
  std::string key;
  auto operator<=>(const RemoteKey&) const = default;
};

struct RemoteObject {
  std::string json;     ///< with apiVersion and kind
  std::string labels;   ///< as compact JSON
  std::string version;  ///< metadata.resourceVersion
  bool deleting = false;
};

/// The key of an object from its metadata; empty: the names are none that an API has.
std::string remote_key_of(const api::KindInfo& kind, const boost::json::object& object);

class RemoteMirror {
 public:
  void list_begins(const api::KindInfo& kind);
  /// What is gone is named in `gone`.
  void list_ends(const api::KindInfo& kind, std::vector<RemoteKey>& gone);
  struct Put {
    RemoteKey key;  ///< empty: it has no name that an API has, and is not kept
    bool changed = true;
  };
  Put put(const api::KindInfo& kind, const std::string& api_version, boost::json::object object);
  /// Whether it was there.
  bool erase(const RemoteKey& key);
  void clear();

  /// nullptr: it is not there.
  const RemoteObject* find(const RemoteKey& key) const;
  /// As a JSON list, by key; `ns` empty: of all.
  std::string list(const api::KindInfo& kind, std::string_view ns, const LabelQuery& labels) const;

  std::size_t size() const { return objects_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t bytes_of(const RemoteKey& key, const RemoteObject& object);

  std::map<RemoteKey, RemoteObject> objects_;
  std::map<const api::KindInfo*, std::set<std::string>> seen_;  // in the list that runs
  std::size_t bytes_ = 0;
};

}  // namespace sluice::host
