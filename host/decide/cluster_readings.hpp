// The gauges of one that decides for a cluster, or stands by to. Pure functions; where a thread is
// named, what they are given belongs to it.
#pragma once

#include <vector>

#include "host/decide/cluster_door.hpp"
#include "host/metrics/metrics.hpp"

namespace sluice::host {

/// 1 for the replica that decides.
Reading leader_reading(bool decides);

/// [control thread]
std::vector<Reading> cluster_readings(const ClusterCounts& counts, const Outbox& outbox);

}  // namespace sluice::host
