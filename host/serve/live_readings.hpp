// The gauges of a live Machine: its queues, its plugins, its thread and its objects; a host shows
// them, and so does a controller of a cluster.
#pragma once

#include <vector>

#include "host/metrics/decision_metrics.hpp"
#include "host/metrics/metrics.hpp"
#include "host/serve/control_loop.hpp"

namespace sluice::host {

/// Where they are read.
struct LiveParts {
  Machine& machine;
  const ControlLoop& control;
  const LiveStore& store;
  const DecisionMetrics& decisions;
  bool fair_sharing = false;
};

/// O(workloads + objects of queues and cohorts). [kernel's thread]
std::vector<Reading> live_readings(const LiveParts& parts, const ObjectAccess& objects);

}  // namespace sluice::host
