// JSON Patch (RFC 6902): a list of operations on places in an object.
//
// Pure functions, any thread. What a patch may cost is bounded before it is done: operations, depth
// and bytes of what comes out, and the values that `move`, `copy` and lists make it go over.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>

#include "host/objects/api_error.hpp"

namespace sluice::host {

struct PatchLimits {
  std::size_t operations = 10'000;
  std::size_t depth = 100;
  std::size_t bytes = 3U << 20;   ///< of the document after each operation
  std::size_t steps = 2'000'000;  ///< values moved, copied, removed; 8 entries of a list are one
};

/// Applies `patch` to `target` in place. 400 when it is no JSON patch, 413 when it has too many
/// operations or makes the document too large, 422 when an operation cannot be carried out (missing
/// path, failed test, too deep, too much moved); then `target` is in an unspecified state.
/// O(size of the target + of the patch + limits.steps).
ApiResult<void> json_patch(boost::json::value& target, const boost::json::value& patch,
                           const PatchLimits& limits = {});

/// Equal as JSON: numbers by value, objects without regard to order.
bool same_json(const boost::json::value& a, const boost::json::value& b);

}  // namespace sluice::host
