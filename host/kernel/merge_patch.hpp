// JSON merge patch (RFC 7386), the way in which kubectl patches custom objects.
// Pure functions; may be called from any thread.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace sluice::host {

/// Applies `patch` to `target` in place: objects are merged key by key, null removes a key, all
/// else replaces.
void merge_patch(boost::json::value& target, const boost::json::value& patch);

/// The patch that makes `after` of `before`; empty: they are alike. Lists are replaced, and a null
/// is the same as nothing.
boost::json::object merge_patch_between(const boost::json::object& before,
                                        const boost::json::object& after);

}  // namespace sluice::host
