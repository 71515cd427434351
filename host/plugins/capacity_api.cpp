#include "host/plugins/capacity_api.hpp"

#include "api/codec/codec.hpp"
#include "host/plugins/host_side.hpp"

namespace sluice::host {

namespace {

const hooks::FlavorFacts& of(const sluice_flavor_t* f) {
  return *reinterpret_cast<const hooks::FlavorFacts*>(f);
}
const api::ClusterQueue& of(const sluice_cluster_queue_t* q) {
  return *reinterpret_cast<const api::ClusterQueue*>(q);
}

std::string_view effect_text(api::TaintEffect effect) {
  switch (effect) {
    case api::TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case api::TaintEffect::kNoExecute:
      return "NoExecute";
    case api::TaintEffect::kNoSchedule:
      break;
  }
  return "NoSchedule";
}

sluice_quota_t raw_quota(const api::ResourceQuota& quota) {
  const auto amount = [&](const api::Quantity& quantity) {
    return api::engine_amount(quota.resource, quantity);
  };
  return {amount(quota.nominal), quota.borrowing_limit ? amount(*quota.borrowing_limit) : -1,
          quota.lending_limit ? amount(*quota.lending_limit) : -1};
}

sluice_str_t flavor_name(const sluice_flavor_t* f) noexcept { return abi_of(of(f).name); }
std::int32_t node_label(const sluice_flavor_t* f, sluice_str_t key, sluice_str_t* out) noexcept {
  if (of(f).node_labels == nullptr) return 0;
  for (const auto& [name, value] : *of(f).node_labels) {
    if (name != view_of(key)) continue;
    *out = abi_of(value);
    return 1;
  }
  return 0;
}
void each_node_label(const sluice_flavor_t* f, sluice_pair_fn fn, void* context) noexcept {
  if (of(f).node_labels == nullptr) return;
  for (const auto& [key, value] : *of(f).node_labels) fn(context, abi_of(key), abi_of(value));
}
void each_node_taint(const sluice_flavor_t* f, sluice_taint_fn fn, void* context) noexcept {
  if (of(f).node_taints == nullptr) return;
  for (const api::Taint& taint : *of(f).node_taints) {
    const sluice_taint_t raw{abi_of(taint.key), abi_of(taint.value),
                             abi_of(effect_text(taint.effect))};
    fn(context, &raw);
  }
}

sluice_str_t queue_name(const sluice_cluster_queue_t* q) noexcept {
  return abi_of(of(q).meta.name);
}
sluice_str_t queue_cohort(const sluice_cluster_queue_t* q) noexcept { return abi_of(of(q).cohort); }
std::int32_t queue_quota(const sluice_cluster_queue_t* q, sluice_str_t flavor,
                         sluice_str_t resource, sluice_quota_t* out) noexcept {
  for (const api::ResourceGroup& group : of(q).resource_groups)
    for (const api::FlavorQuotas& quotas : group.flavors) {
      if (quotas.flavor != view_of(flavor)) continue;
      for (const api::ResourceQuota& each : quotas.resources) {
        if (each.resource != view_of(resource)) continue;
        *out = raw_quota(each);
        return 1;
      }
    }
  return 0;
}
void each_quota(const sluice_cluster_queue_t* q, sluice_quota_fn fn, void* context) noexcept {
  for (const api::ResourceGroup& group : of(q).resource_groups)
    for (const api::FlavorQuotas& quotas : group.flavors)
      for (const api::ResourceQuota& each : quotas.resources) {
        const sluice_quota_t raw = raw_quota(each);
        fn(context, abi_of(quotas.flavor), abi_of(each.resource), &raw);
      }
}

constexpr sluice_flavor_api_t kFlavorApi{
    sizeof(sluice_flavor_api_t), 0, &flavor_name, &node_label, &each_node_label, &each_node_taint};
constexpr sluice_cluster_queue_api_t kClusterQueueApi{
    sizeof(sluice_cluster_queue_api_t), 0, &queue_name, &queue_cohort, &queue_quota, &each_quota};

}  // namespace

const sluice_flavor_api_t& flavor_api() { return kFlavorApi; }
const sluice_cluster_queue_api_t& cluster_queue_api() { return kClusterQueueApi; }

}  // namespace sluice::host
