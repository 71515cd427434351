// What is looked at between the objects of the input, beyond each object's own rules. Called once,
// when all was read, by the thread that reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/objects/managed_jobs.hpp"
#include "host/simulate/input.hpp"

namespace sluice::host {

/// Sorts the initial objects into the order in which they are applied, adds the Namespaces that
/// objects live in but the input lacks, and appends one line per mistake: an object given twice.
/// What leads nowhere (a flavor or a check that never comes to be, a cycle of Cohorts) makes queues
/// inactive as in a running host, and is warned about.
void check_input(SimulationInput& input, Intake& intake, std::uint32_t& order,
                 std::vector<std::string>& errors);

/// Where jobs that name no queue are let alone: warns of those among the initial objects, of which
/// nothing else would be said. O(bytes of jobs' metadata).
void warn_of_unqueued_jobs(SimulationInput& input);
/// Warns of initial jobs that name a queue, in namespaces where no job is held. As complex.
void warn_of_left_out_jobs(SimulationInput& input, const ManagedJobs& managed);

}  // namespace sluice::host
