// WorkKey: what a controller is asked to look at: an object, or something of a sort of its own.
//
// A value; a key that is named twice before it is looked at is looked at once. Keys are ordered by
// sort, kind (by its group and name, not by where it lies in memory) and name, so that keys whose
// timers fire at the same moment come in the same order in every run.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "api/schema/kind_info.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

struct WorkKey {
  const api::KindInfo* kind = nullptr;  ///< of an object; nullptr: it is none
  std::string name;                     ///< an object's key: `namespace/name`, or `name`
  std::uint32_t sort = 0;               ///< a number that the controller gives a meaning to

  static WorkKey of(const ObjectRef& object) { return {object.kind, object.key, 0}; }
  ObjectRef object() const { return {kind, name}; }

  bool operator==(const WorkKey&) const = default;
  std::strong_ordering operator<=>(const WorkKey& other) const;
};

/// `GROUP/KIND NAMESPACE/NAME`, or the name alone: for logs.
std::string to_text(const WorkKey& key);

struct WorkKeyHash {
  std::size_t operator()(const WorkKey& key) const {
    return std::hash<std::string>()(key.name) ^ std::hash<const void*>()(key.kind) ^
           (static_cast<std::size_t>(key.sort) << 1U);
  }
};

}  // namespace sluice::host
