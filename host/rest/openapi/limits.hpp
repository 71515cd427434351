// What one schema node says about its values, in the words of JSON schemas: the parts that all
// documents which describe kinds have in common.
//
// Pure functions over immutable schemas; any thread.
#pragma once

#include <boost/json/object.hpp>

#include "api/schema/node.hpp"

namespace sluice::host {

/// enum, minimum, maxLength and the like.
void add_limits(const api::SchemaNode& node, boost::json::object& out);

/// format, or the pattern of a format that only Kubernetes knows.
void add_format(const api::SchemaNode& node, boost::json::object& out);

/// How server-side apply joins a field: x-kubernetes-list-type and the like.
void add_ownership(const api::SchemaField& field, boost::json::object& out);

}  // namespace sluice::host
