// Defaults of a schema, while it is built.
//
// Pure functions, any thread.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "api/schema/node.hpp"
#include "core/base/mistakes.hpp"

namespace sluice::api {

/// Puts the defaults of everything below into a default value.
void expand_default(const SchemaNode& node, boost::json::value& value);

/// Each default that a contribution has to do with is a value that its own field takes: else the
/// objects that get it could not be written again. A contributor may have users fill in what is
/// below a default of its own. `where`: the path of the node, empty for the whole object.
void judge_defaults(const SchemaNode& node, const std::string& where, Mistakes& mistakes);

}  // namespace sluice::api
