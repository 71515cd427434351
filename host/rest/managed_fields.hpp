// ManagedFields: the owners of an object's fields, as metadata.managedFields lists them. Plain
// values and pure functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/rest/field_set.hpp"

namespace sluice::host {

/// Of one object; a further one is refused.
inline constexpr std::size_t kMostManagers = 100;

struct ManagedEntry {
  std::string manager;
  bool applied = false;     ///< operation Apply, else Update
  std::string api_version;  ///< in which the fields are named
  std::string subresource;
  std::string time;
  FieldSet fields;

  /// Versions do not tell appliers apart.
  bool same_owner(const ManagedEntry& other) const;
};

using ManagedFields = std::vector<ManagedEntry>;

/// Entries that are malformed are left out, and those beyond kMostManagers.
ManagedFields parse_managed_fields(const boost::json::array& entries);

/// In the order in which Kubernetes keeps them. Entries without fields are left out; of more than
/// ten that only updated, the oldest are put together under the name `ancient-changes`.
boost::json::array to_json(ManagedFields fields, boost::json::storage_ptr storage = {});

/// The list with which a client ends the tracking of owners: `[{}]`.
bool is_reset(const boost::json::array& entries);

}  // namespace sluice::host
