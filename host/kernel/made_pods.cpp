#include "host/kernel/made_pods.hpp"

#include <boost/json/monotonic_resource.hpp>

#include "api/json/json.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

std::string_view namespace_in(std::string_view key) { return key.substr(0, key.find('/')); }

}  // namespace

void MadePods::changed(const api::KindInfo& kind, std::string_view key,
                       const StoredObject* stored) {
  if (!decides_about_pods(kind)) return;
  const std::string_view name = key.substr(key.find('/') + 1);
  const json::object object = stored ? parse_stored(*stored->body) : json::object();
  if (!kind.namespaced)
    return stored ? defaults_.put_runtime_class(key, object) : defaults_.erase_runtime_class(key);
  if (stored)
    defaults_.put_limit_range(namespace_in(key), name, object);
  else
    defaults_.erase_limit_range(namespace_in(key), name);
}

bool MadePods::concerns(const api::KindInfo& kind, std::string_view changed,
                        std::string_view workload) {
  return !kind.namespaced || namespace_in(changed) == namespace_in(workload);
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
