// Why a ClusterQueue admits nothing, in the words of its own condition Active and of the workloads
// that wait there, which say it in sentences of their own.
//
// Pure functions of a record, on the engine's thread, or while that does nothing.
#pragma once

#include <string>

#include "core/model/queue_record.hpp"

namespace sluice {

/// The reason of its condition Active.
const char* activity_reason(Inactive why);

/// What follows the name of the queue, or `is inactive:`: `is stopped`, `references missing …`.
/// With `names_cohort` the cohort is named that is wrong. Of an inactive queue only.
std::string inactivity(const QueueRecord& queue, bool names_cohort);

}  // namespace sluice
