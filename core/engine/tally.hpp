// Counts over all workloads, as metrics want them. Plain values, copied from the engine on request.
// Workloads that count for another, or for none, are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

struct Model;

struct WorkloadTally {
  /// Workloads of one LocalQueue that are neither admitted nor finished, for one reason.
  struct Unadmitted {
    std::string cluster_queue;  ///< empty: the LocalQueue leads nowhere
    std::string local_queue;    ///< `namespace/name`
    std::string reason;         ///< as of condition Admitted
    std::string cause;          ///< as of condition QuotaReserved; empty: it has quota
    std::size_t count = 0;
  };
  struct Finished {
    std::string cluster_queue, local_queue;
    std::size_t count = 0;
  };
  /// What the pending workloads of a ClusterQueue ask for, in the engine's unit.
  struct Requested {
    std::string cluster_queue, resource;
    std::int64_t amount = 0;
  };
  /// Different shapes of workloads that wait in a ClusterQueue.
  struct Shapes {
    std::string cluster_queue;
    std::size_t active = 0, parked = 0;
  };
  std::vector<Unadmitted> unadmitted;
  std::vector<Finished> finished;
  std::vector<Requested> requested;
  std::vector<Shapes> shapes;
};

/// O(workloads that have not finished, and those that count for others); `steps` gets how many.
WorkloadTally tally_of(const Model& model, std::size_t* steps = nullptr);

}  // namespace sluice
