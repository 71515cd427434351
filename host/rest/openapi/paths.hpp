// The paths of an OpenAPI document: which requests a resource answers.
//
// Clients look at them for three things: which kind a path is about, that a PATCH takes the
// parameters fieldValidation and dryRun, and what to send. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>

#include "host/rest/openapi/schemas.hpp"
#include "host/rest/resources.hpp"

namespace sluice::host {

/// Adds the paths of `resource` to `paths`, and the schemas that they refer to, to `schemas`.
void add_paths(const ApiResource& resource, OpenApiVersion version, SchemaSet& schemas,
               boost::json::object& paths);

}  // namespace sluice::host
