#include "host/kernel/made_pods.hpp"

#include <boost/json/monotonic_resource.hpp>

#include "api/json/json.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

namespace json = boost::json;

void MadePods::changed(const api::KindInfo& kind, std::string_view key,
                       const StoredObject* stored) {
  if (!decides_about_pods(kind)) return;
  const auto [ns, name] = split_key(key);
  const json::object object = stored ? parse_stored(*stored->body) : json::object();
  if (!kind.namespaced)
    return stored ? defaults_.put_runtime_class(key, object) : defaults_.erase_runtime_class(key);
  if (stored)
    defaults_.put_limit_range(ns, name, object);
  else
    defaults_.erase_limit_range(ns, name);
}

bool MadePods::concerns(const api::KindInfo& kind, std::string_view changed,
                        std::string_view workload) {
  return !kind.namespaced || namespace_of(changed) == namespace_of(workload);
}

void MadePods::read(api::Workload& workload, const StoredObject& stored) {
  if (!defaults_.concern(workload.meta.ns)) return;
  json::monotonic_resource memory;
  const json::object body = parse_stored(*stored.body, &memory);
  std::size_t i = 0;
  for_each_object(part(body, "spec"), "podSets", [&](const json::object& each) {
    if (i < workload.pod_sets.size())
      workload.pod_sets[i].pod =
          defaults_.read(workload.meta.ns, part(each, "template"), templates_);
    ++i;
  });
}

}  // namespace sluice::host
