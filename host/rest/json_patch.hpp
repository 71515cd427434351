// JSON Patch (RFC 6902): a list of operations on places in an object.
//
// Pure functions, any thread. What a patch may cost is bounded: operations, depth of what comes
// out, and how much `copy` may multiply.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>

#include "host/objects/api_error.hpp"

namespace sluice::host {

struct PatchLimits {
  std::size_t operations = 10'000;
  std::size_t depth = 100;
  std::size_t copied_values = 500'000;     ///< by all `copy` operations together
  std::size_t moved_entries = 20'000'000;  ///< of lists, by insertions and removals
};

/// Applies `patch` to `target` in place. 400 when it is no JSON patch, 413 when it has too many
/// operations, 422 when an operation cannot be carried out (missing path, failed test, too deep);
/// then `target` is in an unspecified state. O(size of the patch + of what it copies).
ApiResult<void> json_patch(boost::json::value& target, const boost::json::value& patch,
                           const PatchLimits& limits = {});

/// Equal as JSON: numbers by value, objects without regard to order.
bool same_json(const boost::json::value& a, const boost::json::value& b);

}  // namespace sluice::host
