// meets(): what spec.successPolicy of an Indexed Job says of the indexes that succeeded: the first
// rule that they meet ends the Job well, whatever is left. Pure, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/executor/jobs/views.hpp"

namespace sluice::host {

/// Which rule is met, as a sentence; empty: none.
std::string meets(const std::vector<SuccessRule>& rules, const IndexSet& succeeded,
                  std::int64_t completions);

}  // namespace sluice::host
