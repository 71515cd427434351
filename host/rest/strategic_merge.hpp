// Strategic merge patch: how kubectl changes built-in kinds. Like a merge patch, but lists that the
// schema says can be merged are merged entry by entry, and directives in the patch say more:
//
//   $patch: delete | replace | merge     of a map, or of an entry of a list
//   $retainKeys: [a, b]                  drops all other keys of the map
//   $setElementOrder/x: […]              the order of the entries of x
//   $deleteFromPrimitiveList/x: […]      values to take out of x
//
// A pure function, any thread.
#pragma once

#include <boost/json/object.hpp>

#include "api/schema/node.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// Applies `patch` to `target` in place, beside the schema of the kind. 400 when a directive is
/// malformed or an entry lacks its merge key; then `target` is in an unspecified state.
ApiResult<void> strategic_merge(boost::json::object& target, const boost::json::object& patch,
                                const api::SchemaNode& schema);

}  // namespace sluice::host
