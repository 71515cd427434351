#include "api/codec/codec.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

Quantity fair_weight(const json::object& spec) {
  const json::object* fair = find_object(spec, "fairSharing");
  const auto weight = fair != nullptr ? optional_quantity(*fair, "weight") : std::nullopt;
  return weight.value_or(Quantity::of_units(1));
}

Preemption decode_preemption(const json::object& spec) {
  Preemption preemption;
  const json::object* from = find_object(spec, "preemption");
  if (from == nullptr) return preemption;
  const std::string_view within = find_text(*from, "withinClusterQueue");
  if (within == "LowerPriority") {
    preemption.within_cluster_queue = WithinClusterQueue::kLowerPriority;
  } else if (within == "LowerOrNewerEqualPriority") {
    preemption.within_cluster_queue = WithinClusterQueue::kLowerOrNewerEqualPriority;
  }
  const std::string_view reclaim = find_text(*from, "reclaimWithinCohort");
  if (reclaim == "LowerPriority") {
    preemption.reclaim_within_cohort = ReclaimWithinCohort::kLowerPriority;
  } else if (reclaim == "Any") {
    preemption.reclaim_within_cohort = ReclaimWithinCohort::kAny;
  }
  if (const json::object* borrow = find_object(*from, "borrowWithinCohort")) {
    preemption.borrow_within_cohort = find_text(*borrow, "policy") == "LowerPriority";
    preemption.max_priority_threshold = find_int32(*borrow, "maxPriorityThreshold");
  }
  return preemption;
}

std::vector<AdmissionCheckRule> decode_check_rules(const json::object& spec) {
  std::vector<AdmissionCheckRule> rules;
  const json::object* strategy = find_object(spec, "admissionChecksStrategy");
  const json::array* from =
      strategy != nullptr ? find_array(*strategy, "admissionChecks") : nullptr;
  for (std::size_t i = 0; from != nullptr && i < from->size(); ++i) {
    const auto* each = (*from)[i].if_object();
    if (each == nullptr) continue;
    rules.push_back(
        {std::string(find_text(*each, "name")), decode_texts(find_array(*each, "onFlavors"))});
  }
  return rules;
}

std::vector<OwnerReference> decode_owners(const json::array* from) {
  std::vector<OwnerReference> owners;
  for (std::size_t i = 0; from != nullptr && i < from->size(); ++i) {
    const auto* each = (*from)[i].if_object();
    if (each == nullptr) continue;
    OwnerReference owner;
    owner.api_version = find_text(*each, "apiVersion");
    owner.kind = find_text(*each, "kind");
    owner.name = find_text(*each, "name");
    owner.uid = find_text(*each, "uid");
    owner.controller = find_bool(*each, "controller", false);
    owner.block_owner_deletion = find_bool(*each, "blockOwnerDeletion", false);
    owners.push_back(std::move(owner));
  }
  return owners;
}

}  // namespace

ObjectMeta decode_meta(const json::object& object) {
  ObjectMeta meta;
  const json::object* from = find_object(object, "metadata");
  if (from == nullptr) return meta;
  meta.name = find_text(*from, "name");
  meta.ns = find_text(*from, "namespace");
  meta.uid = find_text(*from, "uid");
  meta.labels = find_labels(*from, "labels");
  meta.annotations = find_labels(*from, "annotations");
  meta.creation_time = find_time(*from, "creationTimestamp");
  meta.deletion_time = find_time(*from, "deletionTimestamp");
  meta.generation = find_int(*from, "generation").value_or(0);
  meta.owners = decode_owners(find_array(*from, "ownerReferences"));
  return meta;
}

Namespace decode_namespace(const json::object& object) { return {decode_meta(object)}; }

PriorityClass decode_priority_class(const json::object& object) {
  PriorityClass priority;
  priority.meta = decode_meta(object);
  priority.value = find_int32(object, "value").value_or(0);
  priority.global_default = find_bool(object, "globalDefault", false);
  return priority;
}

ResourceFlavor decode_resource_flavor(const json::object& object) {
  const json::object& spec = find_part(object, "spec");
  ResourceFlavor flavor;
  flavor.meta = decode_meta(object);
  flavor.node_labels = find_labels(spec, "nodeLabels");
  flavor.node_taints = decode_taints(find_array(spec, "nodeTaints"));
  flavor.tolerations = decode_tolerations(find_array(spec, "tolerations"));
  return flavor;
}

ClusterQueue decode_cluster_queue(const json::object& object) {
  const json::object& spec = find_part(object, "spec");
  ClusterQueue queue;
  queue.meta = decode_meta(object);
  queue.cohort = find_text(spec, "cohortName");
  queue.resource_groups = decode_resource_groups(find_array(spec, "resourceGroups"));
  if (find_text(spec, "queueingStrategy") == "StrictFIFO") {
    queue.strategy = QueueingStrategy::kStrictFifo;
  }
  if (const json::object* selector = find_object(spec, "namespaceSelector")) {
    queue.namespace_selector = decode_selector(*selector);
  }
  queue.preemption = decode_preemption(spec);
  queue.stop_policy = decode_stop_policy(find_text(spec, "stopPolicy"));
  queue.fair_weight = fair_weight(spec);
  queue.admission_checks = decode_check_rules(spec);
  append_json(object, queue.json);
  return queue;
}

Cohort decode_cohort(const json::object& object) {
  const json::object& spec = find_part(object, "spec");
  Cohort cohort;
  cohort.meta = decode_meta(object);
  cohort.parent = find_text(spec, "parentName");
  cohort.resource_groups = decode_resource_groups(find_array(spec, "resourceGroups"));
  cohort.fair_weight = fair_weight(spec);
  return cohort;
}

LocalQueue decode_local_queue(const json::object& object) {
  const json::object& spec = find_part(object, "spec");
  LocalQueue queue;
  queue.meta = decode_meta(object);
  queue.cluster_queue = find_text(spec, "clusterQueue");
  queue.stop_policy = decode_stop_policy(find_text(spec, "stopPolicy"));
  return queue;
}

namespace {

/// retryDelayMinutes has no place in the hub form: it is kept in the annotation that holds the
/// fields of v1beta1.
std::optional<std::int32_t> retry_delay_of(const json::object& object) {
  const json::object* metadata = find_object(object, "metadata");
  const json::object* annotations = metadata ? find_object(*metadata, "annotations") : nullptr;
  const std::string_view text =
      annotations ? find_text(*annotations, "sluice.dev/v1beta1-fields") : std::string_view();
  if (text.empty()) return std::nullopt;
  boost::system::error_code code;
  const json::value fields = json::parse(json_view(text), code);
  if (code || !fields.is_object()) return std::nullopt;
  const auto minutes = find_int32(fields.get_object(), "spec.retryDelayMinutes");
  if (!minutes) return std::nullopt;
  constexpr std::int32_t kMostMinutes = 1'000'000;
  return std::clamp(*minutes, 0, kMostMinutes) * 60;
}

}  // namespace

AdmissionCheck decode_admission_check(const json::object& object) {
  const json::object& spec = find_part(object, "spec");
  AdmissionCheck check;
  check.meta = decode_meta(object);
  check.controller_name = find_text(spec, "controllerName");
  check.preempt_after_check = find_text(spec, "preemptionPolicy") == "AfterCheckPassedOrOnDemand";
  check.retry_delay_seconds = retry_delay_of(object);
  const json::object* status = find_object(object, "status");
  const json::array* conditions = status ? find_array(*status, "conditions") : nullptr;
  for (std::size_t i = 0; conditions && i < conditions->size(); ++i) {
    const json::object* condition = (*conditions)[i].if_object();
    if (!condition || find_text(*condition, "type") != "Active") continue;
    check.active = find_text(*condition, "status") != "False";
    if (!check.active) check.why_inactive = find_text(*condition, "message");
  }
  return check;
}

}  // namespace sluice::api
