// The order of a list after a patch was merged into it: entries that the patch names stand as the
// patch has them, all others where they were.
// A pure function, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <vector>

namespace sluice::host {

/// `keys[i]` is the key of `items[i]`; `before` the keys as they were, `wanted` as the patch orders
/// them; a new entry stands right before the next one of the patch that was there, or last.
/// O(n log n).
void order_list(boost::json::array& items, const std::vector<std::string>& keys,
                const std::vector<std::string>& before, const std::vector<std::string>& wanted);

}  // namespace sluice::host
