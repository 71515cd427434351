// Readings of the moment: the gauges of queues, plugins and the build. They look at the engine and
// the plugins, so they are taken on the kernel's thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/engine/cohort_views.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/queue_views.hpp"
#include "core/engine/tally.hpp"
#include "host/metrics/metrics.hpp"
#include "host/objects/object_access.hpp"
#include "host/plugins/metrics.hpp"
#include "host/plugins/plugin_set.hpp"

namespace sluice::host {

/// Queues, LocalQueues and Cohorts, under Kueue's names. O(workloads + objects of these kinds).
std::vector<Reading> queue_readings(const Engine& engine, const ObjectAccess& objects,
                                    bool fair_sharing);

/// Calls, time and faults per plugin and hook, and what the plugins registered themselves.
std::vector<Reading> plugin_readings(const std::vector<PluginStatus>& plugins,
                                     const std::vector<MetricSnapshot>& own);

/// What DecisionMetrics::preemption_skips() says.
Reading skips_reading(const std::map<std::string, std::size_t>& skips);

/// One value under one name.
Reading reading(std::string name, std::string help, double value, bool counter = false);

/// Version and machine.
Reading build_reading();

}  // namespace sluice::host
