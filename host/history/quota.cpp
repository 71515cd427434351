#include "host/history/quota.hpp"

#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "core/base/time.hpp"

namespace sluice::host {

Quotas quotas_of(const StoredObject& object, bool of_cohort) {
  Quotas out;
  const auto amount = [](const std::string& resource,
                         const std::optional<api::Quantity>& quantity) {
    return quantity ? std::optional(api::engine_amount(resource, *quantity)) : std::nullopt;
  };
  const std::vector<api::ResourceGroup> groups =
      of_cohort ? api::decode_cohort(to_object(object)).resource_groups
                : api::decode_cluster_queue(to_object(object)).resource_groups;
  for (const api::ResourceGroup& group : groups)
    for (const api::FlavorQuotas& flavor : group.flavors)
      for (const api::ResourceQuota& each : flavor.resources)
        out.push_back({flavor.flavor, each.resource,
                       api::engine_amount(each.resource, each.nominal),
                       amount(each.resource, each.borrowing_limit),
                       amount(each.resource, each.lending_limit)});
  return out;
}

Millis unchanged_since(const StoredObject& object) {
  const boost::json::object metadata = parse_stored(object.metadata.text());
  if (api::find_int(metadata, "generation").value_or(0) != 1) return 0;
  const auto created = api::find_time(metadata, "creationTimestamp");
  return created ? to_millis(*created) : 0;
}

}  // namespace sluice::host
