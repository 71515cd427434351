// What must hold between the objects of the input, beyond each object's own rules.
//
// Only the manifests are held to it: an event of a Timeline may leave a reference dangling, as a
// change of a running system may.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/simulate/input.hpp"

namespace sluice::host {

/// Sorts the initial objects into the order in which they are applied, adds the Namespaces that
/// objects live in but nobody gave, and appends one line per mistake: an object given twice, a
/// ClusterQueue that names a flavor that never comes to be, a cycle of Cohorts. A ClusterQueue
/// whose own status says that it is inactive (the dump of a live cluster) gets a warning instead.
void check_input(SimulationInput& input, Intake& intake, std::uint32_t& order,
                 std::vector<std::string>& errors);

}  // namespace sluice::host
