// The limits that the description of a field sets to its values: format, enum, least and most.
//
// A pure function, any thread.
#pragma once

#include <boost/json/object.hpp>

#include "api/schema/node.hpp"
#include "core/base/mistakes.hpp"

namespace sluice::api {

/// Reads them from the field's attributes into its node. What is wrong, or contradicts another
/// limit, is told with the key, what was found and what is allowed.
void read_limits(const boost::json::object& from, SchemaNode& node, Mistakes& mistakes);

}  // namespace sluice::api
