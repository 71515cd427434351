#include "host/plugins/workload_api.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "host/plugins/host_side.hpp"
#include "host/plugins/workload_text.hpp"

namespace sluice::host {

namespace {

using Handle = const sluice_workload_t*;

const api::Workload& of(Handle w) { return *reinterpret_cast<const api::Workload*>(w); }

/// Binary search without making a std::string of the key.
const std::string* find(const api::LabelMap& map, std::string_view key) {
  const auto it = std::lower_bound(
      map.begin(), map.end(), key,
      [](const api::LabelMap::Entry& entry, std::string_view k) { return entry.first < k; });
  return it != map.end() && it->first == key ? &it->second : nullptr;
}

std::int32_t give(const std::string* text, sluice_str_t* out) {
  if (text == nullptr) return 0;
  *out = abi_of(*text);
  return 1;
}

void each(const api::LabelMap& map, sluice_pair_fn fn, void* context) {
  for (const auto& [key, value] : map) fn(context, abi_of(key), abi_of(value));
}

const api::PodSet* pod_set(Handle w, std::uint32_t i) {
  const auto& sets = of(w).pod_sets;
  return i < sets.size() ? &sets[i] : nullptr;
}

sluice_str_t get_namespace(Handle w) noexcept { return abi_of(of(w).meta.ns); }
sluice_str_t get_name(Handle w) noexcept { return abi_of(of(w).meta.name); }
sluice_str_t get_uid(Handle w) noexcept { return abi_of(of(w).meta.uid); }
sluice_str_t get_queue_name(Handle w) noexcept { return abi_of(of(w).queue_name); }
std::int32_t get_priority(Handle w) noexcept { return of(w).priority; }
std::int64_t get_created_at(Handle w) noexcept { return of(w).meta.creation_time.value_or(0); }
std::int32_t get_active(Handle w) noexcept { return of(w).active ? 1 : 0; }

std::int32_t get_label(Handle w, sluice_str_t key, sluice_str_t* out) noexcept {
  return give(find(of(w).meta.labels, view_of(key)), out);
}
std::int32_t get_annotation(Handle w, sluice_str_t key, sluice_str_t* out) noexcept {
  return give(find(of(w).meta.annotations, view_of(key)), out);
}
void each_label(Handle w, sluice_pair_fn fn, void* context) noexcept {
  each(of(w).meta.labels, fn, context);
}
void each_annotation(Handle w, sluice_pair_fn fn, void* context) noexcept {
  each(of(w).meta.annotations, fn, context);
}

std::int32_t get_controller(Handle w, sluice_str_t* kind, sluice_str_t* name) noexcept {
  for (const auto& owner : of(w).meta.owners) {
    if (!owner.controller) continue;
    *kind = abi_of(owner.kind);
    *name = abi_of(owner.name);
    return 1;
  }
  return 0;
}

std::uint32_t get_pod_sets(Handle w) noexcept {
  return static_cast<std::uint32_t>(of(w).pod_sets.size());
}
sluice_str_t get_pod_set_name(Handle w, std::uint32_t i) noexcept {
  const auto* set = pod_set(w, i);
  return set != nullptr ? abi_of(set->name) : abi_of({});
}
std::int32_t get_pod_set_count(Handle w, std::uint32_t i) noexcept {
  const auto* set = pod_set(w, i);
  return set != nullptr ? set->count : 0;
}
std::int32_t get_pod_set_min_count(Handle w, std::uint32_t i, std::int32_t* out) noexcept {
  const auto* set = pod_set(w, i);
  if (set == nullptr || !set->min_count) return 0;
  *out = *set->min_count;
  return 1;
}
std::int32_t get_pod_request(Handle w, std::uint32_t i, sluice_str_t resource,
                             std::int64_t* out) noexcept {
  const auto* set = pod_set(w, i);
  if (set == nullptr || set->pod == nullptr) return 0;
  for (const auto& request : set->pod->requests) {
    if (request.resource != view_of(resource)) continue;
    *out = request.amount;
    return 1;
  }
  return 0;
}
void each_pod_request(Handle w, std::uint32_t i, sluice_amount_fn fn, void* context) noexcept {
  const auto* set = pod_set(w, i);
  if (set == nullptr || set->pod == nullptr) return;
  for (const auto& request : set->pod->requests)
    fn(context, abi_of(request.resource), request.amount);
}

std::int32_t get_admitted_by(Handle w, sluice_str_t* out) noexcept {
  const auto& admission = of(w).status.admission;
  return give(admission ? &admission->cluster_queue : nullptr, out);
}
std::int32_t get_admitted_flavor(Handle w, std::uint32_t i, sluice_str_t resource,
                                 sluice_str_t* flavor) noexcept {
  const auto* set = pod_set(w, i);
  const auto& admission = of(w).status.admission;
  if (set == nullptr || !admission) return 0;
  for (const auto& assigned : admission->pod_sets)
    if (assigned.name == set->name) return give(find(assigned.flavors, view_of(resource)), flavor);
  return 0;
}
std::int32_t get_admitted_count(Handle w, std::uint32_t i, std::int32_t* out) noexcept {
  const auto* set = pod_set(w, i);
  const auto& admission = of(w).status.admission;
  if (set == nullptr || !admission) return 0;
  for (const auto& assigned : admission->pod_sets) {
    if (assigned.name != set->name) continue;
    *out = assigned.count;
    return 1;
  }
  return 0;
}
std::int32_t get_condition(Handle w, sluice_str_t type, sluice_str_t* status) noexcept {
  for (const auto& condition : of(w).status.conditions)
    if (condition.type == view_of(type)) return give(&condition.status, status);
  return 0;
}
std::int32_t get_condition_details(Handle w, sluice_str_t type, sluice_condition_t* out) noexcept {
  const api::Condition* found = of(w).status.condition(view_of(type));
  if (found == nullptr) return 0;
  *out = {abi_of(found->status), abi_of(found->reason), abi_of(found->message),
          found->last_transition_time};
  return 1;
}
std::int32_t get_maximum_execution_seconds(Handle w, std::int32_t* out) noexcept {
  const auto& seconds = of(w).maximum_execution_seconds;
  if (!seconds) return 0;
  *out = *seconds;
  return 1;
}
std::int32_t get_past_execution_seconds(Handle w) noexcept {
  return of(w).status.accumulated_past_execution_seconds;
}
void each_owner(Handle w, sluice_owner_fn fn, void* context) noexcept {
  for (const auto& owner : of(w).meta.owners) {
    const sluice_owner_t raw{abi_of(owner.api_version), abi_of(owner.kind),
                             abi_of(owner.name),        abi_of(owner.uid),
                             owner.controller ? 1 : 0,  0};
    fn(context, &raw);
  }
}
void write_json(Handle w, const sluice_sink_t* out) noexcept {
  try {
    const std::string text = workload_text(of(w));
    out->write(out->context, abi_of(text));
  } catch (const std::exception&) {
    // Out of memory: the plugin gets no text.
  }
}
sluice_str_t get_extensions(Handle w) noexcept { return abi_of(of(w).extensions); }

constexpr sluice_workload_api_t kApi{sizeof(sluice_workload_api_t),
                                     0,
                                     &get_namespace,
                                     &get_name,
                                     &get_uid,
                                     &get_queue_name,
                                     &get_priority,
                                     &get_created_at,
                                     &get_active,
                                     &get_label,
                                     &get_annotation,
                                     &each_label,
                                     &each_annotation,
                                     &get_controller,
                                     &get_pod_sets,
                                     &get_pod_set_name,
                                     &get_pod_set_count,
                                     &get_pod_set_min_count,
                                     &get_pod_request,
                                     &each_pod_request,
                                     &get_admitted_by,
                                     &get_admitted_flavor,
                                     &get_condition,
                                     &get_extensions,
                                     &get_admitted_count,
                                     &get_condition_details,
                                     &get_maximum_execution_seconds,
                                     &get_past_execution_seconds,
                                     &each_owner,
                                     &write_json};

}  // namespace

const sluice_workload_api_t& workload_api() { return kApi; }

}  // namespace sluice::host
