// WorkloadFacts, PodUse: what the history asks of the records of the store.
//
// Pure functions of a record, any thread. Most changes of a workload tell the history nothing:
// tells_anything() says so without parsing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/types/kinds.hpp"
#include "host/history/run.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

struct WorkloadFacts {
  std::string uid, ns, name;
  std::string owner_kind, owner;  ///< that controls it; empty: none
  std::string queue, user, priority_class;
  Millis created = 0;
  bool part = false;  ///< of another workload, which counts for all of its parts
  api::WorkloadStatus status;
};

/// Whether it holds quota, or ended.
bool tells_anything(const StoredObject& workload);
WorkloadFacts workload_facts(const StoredObject& workload);

/// What it holds now, summed up over its pod sets.
std::vector<HeldAmount> held_amounts(const api::WorkloadStatus& status);

/// What a pod used that ended.
struct PodUse {
  std::string ns;
  std::string workload;  ///< its name
  Millis since = 0;      ///< when its processes were started
  std::int64_t cpu_us = 0;
  std::int64_t memory_peak = 0;
};

/// nullopt: it has not ended, belongs to no workload, or its use was not counted.
std::optional<PodUse> pod_use(const StoredObject& pod);

}  // namespace sluice::host
