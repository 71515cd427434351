// Conversion of objects between API versions, in JSON form. The hub is the storage version.
//
// Moves of fields and spellings of values are data; what is more than that is a named function
// here. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "api/schema/source.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

/// Rewrites the fields; apiVersion is the caller's. Fields that the target does not know stay where
/// they are.
void convert_to_hub(const VersionSource& version, boost::json::object& object);
void convert_from_hub(const VersionSource& version, boost::json::object& object);

/// Keeps `pruned` fields in annotation `name`, so that the way back can restore them; nothing to
/// keep leaves the object as it is.
void stash(boost::json::object& object, std::string_view name, const Walk::Pruned& pruned);
/// Puts stashed fields back where they fit, and removes the annotation.
void unstash(boost::json::object& object, std::string_view name);

}  // namespace sluice::api
