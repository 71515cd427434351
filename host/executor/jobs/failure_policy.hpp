// judge(): what spec.podFailurePolicy of a Job says about a pod that failed: the first rule that
// matches decides; without one the failure counts. Pure, any thread.
#pragma once

#include <string>
#include <vector>

#include "host/executor/jobs/views.hpp"

namespace sluice::host {

struct PolicyAnswer {
  FailureRule::Action action = FailureRule::Action::kCount;
  std::string message;  ///< which rule matched, and what; empty: none did
};

PolicyAnswer judge(const std::vector<FailureRule>& rules, const JobPod& pod);

}  // namespace sluice::host
