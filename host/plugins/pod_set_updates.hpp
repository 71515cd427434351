// What a check-controller wants of the pods of a workload, judged by the rules that the API has for
// pods: what no pod could have would admit a workload whose pods can never be made.
//
// Pure functions, any thread.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace sluice::host {

/// What is wrong with the JSON list in svc/check_reporter.h; empty: nothing, or there is none. The
/// pod sets of the workload, and marks that plugins list, are for those who know them.
std::string pod_set_updates_problem(std::string_view text);

}  // namespace sluice::host
