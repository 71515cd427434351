#include "host/plugins/workload_text.hpp"

#include <boost/json.hpp>

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/base/time.hpp"
#include "core/types/kinds.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

json::object labels_of(const api::LabelMap& map) {
  json::object out;
  for (const auto& [key, value] : map) out[api::json_view(key)] = api::json_view(value);
  return out;
}

json::object metadata_of(const api::ObjectMeta& meta) {
  json::object out{{"namespace", meta.ns}, {"name", meta.name}, {"uid", meta.uid}};
  if (meta.creation_time) out["creationTimestamp"] = format_time(*meta.creation_time);
  if (!meta.labels.empty()) out["labels"] = labels_of(meta.labels);
  if (!meta.annotations.empty()) out["annotations"] = labels_of(meta.annotations);
  json::array owners;
  for (const auto& owner : meta.owners)
    owners.push_back(json::object{{"apiVersion", owner.api_version},
                                  {"kind", owner.kind},
                                  {"name", owner.name},
                                  {"uid", owner.uid},
                                  {"controller", owner.controller}});
  if (!owners.empty()) out["ownerReferences"] = std::move(owners);
  return out;
}

json::object pod_set_of(const api::PodSet& set) {
  json::object out{{"name", set.name}, {"count", set.count}};
  if (set.min_count) out["minCount"] = *set.min_count;
  json::object requests;
  if (set.pod)
    for (const auto& request : set.pod->requests)
      requests[request.resource] = api::engine_quantity(request.resource, request.amount).text();
  json::array containers{json::object{
      {"name", "pod"}, {"resources", json::object{{"requests", std::move(requests)}}}}};
  out["template"] = json::object{{"spec", json::object{{"containers", std::move(containers)}}}};
  return out;
}

json::object spec_of(const api::Workload& w) {
  json::array sets;
  for (const api::PodSet& set : w.pod_sets) sets.push_back(pod_set_of(set));
  json::object out{{"queueName", w.queue_name},
                   {"priority", w.priority},
                   {"active", w.active},
                   {"podSets", std::move(sets)}};
  if (w.priority_class)
    out["priorityClassRef"] = json::object{{"group", w.priority_class->group},
                                           {"kind", w.priority_class->kind},
                                           {"name", w.priority_class->name}};
  if (w.maximum_execution_seconds)
    out["maximumExecutionTimeSeconds"] = *w.maximum_execution_seconds;
  return out;
}

/// Fields that plugins added, where there is nothing of that name.
void add_missing(const json::object& from, json::object& to) {
  for (const auto& [key, value] : from) {
    json::value* there = to.if_contains(key);
    if (there == nullptr)
      to[key] = value;
    else if (there->is_object() && value.is_object())
      add_missing(value.get_object(), there->get_object());
  }
}

}  // namespace

std::string workload_text(const api::Workload& w) {
  json::object object{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                      {"kind", "Workload"},
                      {"metadata", metadata_of(w.meta)},
                      {"spec", spec_of(w)}};
  if (auto status = api::parse_object(api::workload_status_text(w.status)))
    object["status"] = std::move(*status);
  boost::system::error_code error;
  const json::value more = api::parse_deep(w.extensions.empty() ? "{}" : w.extensions, error);
  if (!error && more.is_object()) add_missing(more.get_object(), object);
  return api::to_json(object);
}

}  // namespace sluice::host
