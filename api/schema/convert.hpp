// Conversion of objects between API versions, in JSON form. The hub is the storage version.
//
// Moves of fields and spellings of values are data; what is more than that is a named function
// here. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "api/schema/node.hpp"
#include "api/schema/source.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

/// Rewrites the fields; apiVersion is the caller's. Fields that the target does not know stay where
/// they are.
void convert_to_hub(const VersionSource& version, boost::json::object& object);
void convert_from_hub(const VersionSource& version, boost::json::object& object);
/// After unstash(): of what the hub says and what was said in this version the one that is meant.
void settle_from_hub(const VersionSource& version, boost::json::object& object);

/// Keeps `pruned` fields in annotation `name`, so that the way back can restore them; nothing to
/// keep leaves the object as it is.
void stash(boost::json::object& object, std::string_view name, const Walk::Pruned& pruned);

/// What an annotation may bring into an object that was converted. It is the text of whoever wrote
/// the object, so it is no way around what holds for its parts: for metadata, for a status, for
/// fields with rules.
struct Stashed {
  std::string_view name;         ///< of the annotation
  const SchemaNode& from;        ///< what this has, the object has said itself before; …
  const VersionSource& version;  ///< … so has it what the moves of this version have filled,
  bool in_hub;                   ///< on the way to the hub or from it
  bool status = true;            ///< fields below the status, too
};

/// Puts back the fields below `spec` and `status` that stash() may have kept, where they fit, and
/// removes the annotation.
void unstash(boost::json::object& object, const Stashed& stashed);

}  // namespace sluice::api
