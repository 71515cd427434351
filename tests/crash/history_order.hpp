// The search for one order of operations on an object, by Wing and Gong: place one after the other
// that may come next by the clock and agrees with the object as it is then, and go back where
// nothing fits. What watches saw leaves little to try, so it takes about linear time.
//
// Pure function. Only for histories whose answers fit to what was watched: see check_history().
#pragma once

#include <string>
#include <vector>

#include "tests/crash/history.hpp"

namespace sluice::host::test {

/// Empty when there is an order; else how far one came, and what did not fit there.
std::string why_there_is_no_order(const std::vector<WatchedState>& states,
                                  const std::vector<Operation>& operations,
                                  const std::vector<Gap>& gaps);

}  // namespace sluice::host::test
