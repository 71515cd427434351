// What a person, or a metric, may know about a queue: counts, usage, positions.
//
// Pure functions of the model, on the engine's thread between its calls; the answers are copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "core/types/kinds.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

struct Model;

/// Amounts are in the engine's unit: milli for cpu, base units else.
struct FlavorUse {
  std::string flavor, resource;
  std::int64_t nominal = 0;
  std::int64_t reserved = 0;  ///< by all that hold quota
  std::int64_t used = 0;      ///< by those that are admitted
  /// Beyond the queue's own nominal quota.
  std::int64_t borrowed_by_reserved() const { return reserved > nominal ? reserved - nominal : 0; }
  std::int64_t borrowed_by_used() const { return used > nominal ? used - nominal : 0; }
};

struct QueueCounts {
  std::size_t pending = 0;    ///< parked ones too
  std::size_t parked = 0;     ///< that cannot be admitted until something changes
  std::size_t reserving = 0;  ///< hold quota, admitted ones too
  std::size_t admitted = 0;
};

/// One LocalQueue's part of a ClusterQueue.
struct LocalQueueView {
  std::string key;  ///< `namespace/name`
  QueueCounts counts;
  std::vector<FlavorUse> use;  ///< what its workloads hold; nominal is 0
};

struct QueueView {
  std::string name;
  bool active = false;
  std::string reason, message;  ///< of the condition Active
  QueueCounts counts;
  std::vector<FlavorUse> use;       ///< of every flavor and resource it covers or holds
  std::int64_t weighted_share = 0;  ///< as the API shows it; the highest int64: without bound
  double measured_share = 0;        ///< the same, not rounded; no number: without bound
  std::vector<LocalQueueView> local_queues;  ///< those that have workloads here, by key
};

struct PendingWorkload {
  WorkloadId id = 0;
  std::string local_queue;  ///< its name
  std::int32_t priority = 0;
  std::size_t position_in_cluster_queue = 0;  ///< from 0
  std::size_t position_in_local_queue = 0;
};

/// nullopt: there is no such ClusterQueue. O(its LocalQueues × classes of equals that wait, and its
/// workloads that share quota or count for others), however many others there are or have finished;
/// `steps` gets how many of these were looked at.
std::optional<QueueView> queue_view(const Model& model, std::string_view cluster_queue,
                                    std::size_t* steps = nullptr);
/// ClusterQueues that exist, in order of name.
std::vector<std::string> cluster_queues(const Model& model);
/// The workloads that wait in a ClusterQueue, in order, parked ones too; `local_queue`
/// (`namespace/name`, or empty: all) picks, positions are those among all. O(n log n).
std::vector<PendingWorkload> pending_workloads(const Model& model, std::string_view cluster_queue,
                                               std::string_view local_queue, std::size_t offset,
                                               std::size_t limit);
/// Where a LocalQueue leads; empty when there is no such LocalQueue.
std::string cluster_queue_of(const Model& model, std::string_view local_queue);
/// That the workload's LocalQueue names now; empty: there is none.
std::string_view cluster_queue_of(const Model& model, const api::Workload& workload);
/// The number of a ClusterQueue; nullopt: there is no such ClusterQueue.
std::optional<hooks::QueueId> queue_number(const Model& model, std::string_view cluster_queue);
/// Those that wait in one of these LocalQueues, by id. O(open workloads).
std::vector<WorkloadId> waiting_in(const Model& model, const std::set<std::string>& local_queues);

/// Who holds quota while its pods are not all ready, queue by queue. O(holders).
std::vector<WorkloadId> holders_not_ready(const Model& model);

}  // namespace sluice
