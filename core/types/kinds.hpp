// The typed objects that the engine understands, in one form for all API versions.
//
// The codecs (codec.hpp) read kueue.x-k8s.io v1beta1 and v1beta2 into these structs. Field names
// and defaults follow v1beta2. Fields that a plugin adds are not here: they stay in the object's
// JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/types/meta.hpp"
#include "core/types/pod.hpp"
#include "core/types/quantity.hpp"

namespace sluice::api {

enum class StopPolicy : std::uint8_t { kNone, kHold, kHoldAndDrain };
enum class QueueingStrategy : std::uint8_t { kBestEffortFifo, kStrictFifo };

/// The kinds of the objects that the engine is told of.
enum class ObjectKind : std::uint8_t {
  kNamespace,
  kResourceFlavor,
  kClusterQueue,
  kCohort,
  kLocalQueue,
  kAdmissionCheck,
  kWorkload
};

struct Namespace {
  ObjectMeta meta;
};

/// scheduling.k8s.io PriorityClass and kueue.x-k8s.io WorkloadPriorityClass.
struct PriorityClass {
  ObjectMeta meta;
  std::int32_t value = 0;
  bool global_default = false;
};

struct ResourceFlavor {
  ObjectMeta meta;
  LabelMap node_labels;
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
};

struct ResourceQuota {
  std::string resource;
  Quantity nominal;
  std::optional<Quantity> borrowing_limit;  ///< absent: unlimited
  std::optional<Quantity> lending_limit;    ///< absent: all of it
};

struct FlavorQuotas {
  std::string flavor;
  std::vector<ResourceQuota> resources;
};

/// Invariant: each flavor lists exactly the covered resources, in their order.
struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuotas> flavors;
};

enum class WithinClusterQueue : std::uint8_t { kNever, kLowerPriority, kLowerOrNewerEqualPriority };
enum class ReclaimWithinCohort : std::uint8_t { kNever, kLowerPriority, kAny };

struct Preemption {
  WithinClusterQueue within_cluster_queue = WithinClusterQueue::kNever;
  ReclaimWithinCohort reclaim_within_cohort = ReclaimWithinCohort::kNever;
  bool borrow_within_cohort = false;  ///< borrowWithinCohort.policy: LowerPriority
  std::optional<std::int32_t> max_priority_threshold;
};

struct AdmissionCheckRule {
  std::string name;
  std::vector<std::string> on_flavors;  ///< empty: all flavors
};

struct ClusterQueue {
  ObjectMeta meta;
  std::string cohort;  ///< empty: none
  std::vector<ResourceGroup> resource_groups;
  QueueingStrategy strategy = QueueingStrategy::kBestEffortFifo;
  std::optional<LabelSelector> namespace_selector;
  Preemption preemption;
  StopPolicy stop_policy = StopPolicy::kNone;
  Quantity fair_weight = Quantity::of_units(1);
  std::vector<AdmissionCheckRule> admission_checks;
  /// The whole object as compact JSON (v1beta2), for plugins that add fields to it.
  std::string json;
};

struct Cohort {
  ObjectMeta meta;
  std::string parent;  ///< empty: a root
  std::vector<ResourceGroup> resource_groups;
  Quantity fair_weight = Quantity::of_units(1);
};

struct LocalQueue {
  ObjectMeta meta;
  std::string cluster_queue;
  StopPolicy stop_policy = StopPolicy::kNone;
};

struct AdmissionCheck {
  ObjectMeta meta;
  std::string controller_name;
  /// preemptionPolicy AfterCheckPassedOrOnDemand; else Anytime.
  bool preempt_after_check = false;
  /// Its condition Active is not False; absent counts as active.
  bool active = true;
  /// While it is not: the condition's message.
  std::string why_inactive;
  /// v1beta1's retryDelayMinutes: the delay after a Retry that names none.
  std::optional<std::int32_t> retry_delay_seconds;
};

struct PodSet {
  std::string name = "main";
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;
  std::shared_ptr<const PodTemplate> pod;
  std::string group;  ///< topologyRequest.podSetGroupName; empty: none
};

struct PriorityClassRef {
  std::string group, kind, name;
  bool operator==(const PriorityClassRef&) const = default;
};

struct PodSetAssignment {
  std::string name = "main";
  std::int32_t count = 0;
  LabelMap flavors;  ///< resource → flavor
  std::vector<ResourceRequest> usage;
};

struct Admission {
  std::string cluster_queue;
  std::vector<PodSetAssignment> pod_sets;
};

struct ReclaimablePods {
  std::string pod_set;
  std::int32_t count = 0;
  bool operator==(const ReclaimablePods&) const = default;
};

struct RequeueState {
  std::int32_t count = 0;
  std::optional<Time> requeue_at;
};

struct AdmissionCheckState {
  std::string name;
  std::string state;  ///< Pending, Ready, Retry or Rejected
  std::string message;
  std::string reason;  ///< PreemptionRequired or empty
  Time last_transition_time = 0;
  std::optional<std::int32_t> requeue_after_seconds;
  std::int32_t retry_count = 0;
  std::string pod_set_updates;  ///< the list as JSON; empty: none
  bool operator==(const AdmissionCheckState&) const = default;
};

struct EvictionCount {
  std::string reason, underlying_cause;
  std::int32_t count = 0;
};

struct WorkloadStatus {
  std::vector<Condition> conditions;
  std::optional<Admission> admission;
  std::vector<ReclaimablePods> reclaimable_pods;
  std::vector<AdmissionCheckState> admission_checks;
  std::optional<RequeueState> requeue_state;
  std::vector<EvictionCount> evictions;
  std::int32_t accumulated_past_execution_seconds = 0;

  /// nullptr when absent.
  const Condition* condition(std::string_view type) const;
};
/// Whether its condition of that type is True.
inline bool has_condition(const WorkloadStatus& status, std::string_view type) {
  const Condition* found = status.condition(type);
  return found && found->is_true();
}

struct Workload {
  ObjectMeta meta;
  std::string queue_name;
  std::int32_t priority = 0;
  std::shared_ptr<const PriorityClassRef> priority_class;  ///< null: none is named
  std::vector<PodSet> pod_sets;
  bool active = true;
  std::optional<std::int32_t> maximum_execution_seconds;
  /// Why it may not be admitted whatever quota there is; empty: nothing stands in its way.
  std::string held_because;
  bool is_gated = false;  ///< by others, who said so: that is why it is held
  bool of_job = false;    ///< an object of a kind of job controls it
  WorkloadStatus status;
  /// Plugin-added fields only, as compact JSON `{"spec":{…},"status":{…}}`; empty when there are
  /// none.
  std::string extensions;
};

}  // namespace sluice::api
