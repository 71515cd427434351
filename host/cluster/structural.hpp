// Structural schemas: what a CustomResourceDefinition says of a version's fields, made from the
// nodes by which Sluice itself validates.
//
// Everything stands in its place: named types are written out, because such a schema has no
// references. Pure functions over immutable schemas; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>

#include "api/schema/node.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::host {

/// openAPIV3Schema of a version with this root, of a kind of `scheme`. `more_rules`: what is
/// demanded of the whole object besides its schema's own rules.
boost::json::object structural_schema(const api::Scheme& scheme, const api::SchemaNode& root,
                                      const std::string& description,
                                      boost::json::array more_rules);

}  // namespace sluice::host
