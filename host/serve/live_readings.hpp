// The gauges of a Machine that lives: its queues, its plugins, its thread and its objects, whoever
// keeps these.
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
