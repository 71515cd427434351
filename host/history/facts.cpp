#include "host/history/facts.hpp"

#include <algorithm>
#include <array>
#include <boost/json/monotonic_resource.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/status_text.hpp"
#include "api/json/json.hpp"
#include "api/json/json_text.hpp"
#include "host/executor/pod_use.hpp"
#include "host/objects/marks.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

Millis created_at(const StoredObject& stored) {
  const auto time = parse_time(api::text_at(stored.metadata.text(), "creationTimestamp"));
  return time ? to_millis(*time) : 0;
}

api::WorkloadStatus status_of(const StoredObject& stored) {
  std::array<unsigned char, 16U << 10> buffer;
  json::monotonic_resource memory(buffer.data(), buffer.size());
  boost::system::error_code code;
  const json::value status = api::parse_deep(stored.status, code, &memory);
  if (code || !status.is_object()) return {};
  return api::decode_workload_status(status.get_object());
}

}  // namespace

bool tells_anything(const StoredObject& workload) {
  return !api::admission_in(workload.status).empty() ||
         has_condition(api::conditions_in(workload.status), "Finished");
}

WorkloadFacts workload_facts(const StoredObject& stored) {
  WorkloadFacts out;
  out.uid = stored.metadata.uid();
  out.ns = stored.ns();
  out.name = stored.name();
  if (const OwnerReference* owner = stored.metadata.controller()) {
    out.owner_kind = owner->kind;
    out.owner = owner->name;
  }
  const std::string_view spec = api::member_text(*stored.body, "spec");
  out.queue = api::text_at(spec, "queueName");
  out.priority_class = api::text_at(api::member_text(spec, "priorityClassRef"), "name");
  out.user = api::text_at(api::member_text(stored.metadata.text(), "annotations"), kCreatedBy);
  out.created = created_at(stored);
  out.status = status_of(stored);
  return out;
}

std::vector<HeldAmount> held_amounts(const api::WorkloadStatus& status) {
  std::vector<HeldAmount> out;
  if (!status.admission) return out;
  for (const api::PodSetAssignment& set : status.admission->pod_sets) {
    std::int64_t given_back = 0;
    for (const api::ReclaimablePods& each : status.reclaimable_pods)
      if (each.pod_set == set.name) given_back = std::min(each.count, set.count);
    const std::int64_t pods = std::max(set.count, 1);
    for (const api::ResourceRequest& usage : set.usage) {
      const std::string* flavor = set.flavors.find(usage.resource);
      if (!flavor || usage.amount <= 0) continue;
      const std::int64_t amount = usage.amount / pods * (pods - given_back);
      const auto known = std::find_if(out.begin(), out.end(), [&](const HeldAmount& each) {
        return each.flavor == *flavor && each.resource == usage.resource;
      });
      if (known == out.end())
        out.push_back({*flavor, usage.resource, amount, amount, 0});
      else
        known->now = known->most += amount;
    }
  }
  std::sort(out.begin(), out.end(), [](const HeldAmount& a, const HeldAmount& b) {
    return a.flavor != b.flavor ? a.flavor < b.flavor : a.resource < b.resource;
  });
  return out;
}

std::optional<PodUse> pod_use(const StoredObject& pod) {
  if (pod.status.find(kUsedCondition) == std::string::npos) return std::nullopt;
  boost::system::error_code code;
  const json::value status = api::parse_deep(pod.status, code);
  if (code || !status.is_object()) return std::nullopt;
  const auto used = read_use(status.get_object());
  if (!used) return std::nullopt;
  PodUse out;
  out.ns = pod.ns();
  out.workload =
      api::text_at(api::member_text(pod.metadata.text(), "annotations"), "kueue.x-k8s.io/workload");
  if (out.workload.empty()) return std::nullopt;
  out.since = to_millis(used->since);
  out.cpu_us = used->cpu_us;
  out.memory_peak = used->memory_peak_bytes;
  return out;
}

}  // namespace sluice::host
