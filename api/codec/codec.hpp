// Codecs: between hub JSON (kueue.x-k8s.io/v1beta2 and the built-in kinds) and the typed objects.
//
// Decoding expects an object that Scheme::admit() accepted: nothing is checked again. What is
// missing or of the wrong type nevertheless reads as absent, so that no input can crash it.
// Functions without a cache are pure; all may be called from any thread, with one cache by several.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/sweep_pace.hpp"
#include "core/base/text_map.hpp"
#include "core/types/kinds.hpp"

namespace sluice::api {

class Scheme;

/// Pod templates by their text: workloads of one shape share one decoded PodTemplate.
///
/// The key is the serialized part of the template that decides anything here (annotations, node
/// selector, affinity, tolerations, resources), so templates that differ in commands or images are
/// one. Unreferenced entries are dropped as the cache grows.
class PodTemplateCache {
 public:
  /// core/v1 PodTemplateSpec → the shared decoded form. O(size of the template).
  std::shared_ptr<const PodTemplate> get(const boost::json::object& pod_template);

  /// Distinct templates that are kept.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return templates_.size();
  }

 private:
  using Templates = TextMap<std::weak_ptr<const PodTemplate>>;

  std::shared_ptr<const PodTemplate> find(std::string_view text) const;
  void sweep();

  mutable std::mutex mutex_;
  Templates templates_;   // guarded by mutex_
  SweepPace pace_{1024};  // guarded by mutex_
};

/// core/v1 PodTemplateSpec, without sharing.
PodTemplate decode_pod_template(const boost::json::object& pod_template);

ObjectMeta decode_meta(const boost::json::object& object);
Namespace decode_namespace(const boost::json::object& object);
/// scheduling.k8s.io/v1 PriorityClass or kueue.x-k8s.io/v1beta2 WorkloadPriorityClass.
PriorityClass decode_priority_class(const boost::json::object& object);
ResourceFlavor decode_resource_flavor(const boost::json::object& object);
ClusterQueue decode_cluster_queue(const boost::json::object& object);
Cohort decode_cohort(const boost::json::object& object);
LocalQueue decode_local_queue(const boost::json::object& object);
AdmissionCheck decode_admission_check(const boost::json::object& object);
/// `extensions` is filled with the fields that contributions added to the kind in `scheme`.
Workload decode_workload(const boost::json::object& object, PodTemplateCache& templates,
                         const Scheme& scheme);
WorkloadStatus decode_workload_status(const boost::json::object& status);

/// The members of a Workload's status that are written from the struct.
inline constexpr std::string_view kTypedStatusMembers[] = {"admission",
                                                           "conditions",
                                                           "reclaimablePods",
                                                           "admissionChecks",
                                                           "requeueState",
                                                           "schedulingStats",
                                                           "accumulatedPastExecutionTimeSeconds"};

/// The text of a Workload's status as the API shows it (v1beta2), compact JSON; empty parts are
/// left out, and a status that says nothing is empty. Amounts of cpu are written from milli units,
/// all others from base units. `before`: an older status, compact JSON of our own: what the struct
/// does not hold (fields that plugins added, or that no decision reads; conditions of other types;
/// the generation that the writer of a condition had seen) is kept from there. O(bytes).
std::string workload_status_text(const WorkloadStatus& status, std::string_view before = {});

/// The amount of `resource` in the engine's unit: milli for cpu, base units else, rounded up.
std::int64_t engine_amount(std::string_view resource, const Quantity& quantity);
/// The reverse: the Quantity for an amount in the engine's unit; bytes with binary suffixes.
Quantity engine_quantity(std::string_view resource, std::int64_t amount);

}  // namespace sluice::api
