#include "host/explain/pod_troubles.hpp"

#include <fmt/format.h>

#include <string_view>

#include "api/json/json.hpp"
#include "host/explain/obstacles.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

std::string controller_name(const json::object& workload) {
  std::string out;
  for_each_object(part(workload, "metadata"), "ownerReferences", [&](const json::object& owner) {
    if (api::find_bool(owner, "controller", false)) out = api::find_text(owner, "name");
  });
  return out;
}

}  // namespace

std::string trouble_of_pods(const ObjectAccess& objects, const std::string& workload) {
  const auto object = objects.get(api::kueue_kind(objects.scheme(), "Workload"), workload);
  const std::string job = object ? controller_name(*object) : "";
  const api::KindInfo* events = objects.scheme().find("v1", "Event");
  if (job.empty() || !events) return {};
  const std::string_view ns = namespace_of(workload);
  const std::string begin = join_key(ns, job) + "-";  // as pods are called, and Events about them
  std::string out, youngest;
  for (const std::string& key : objects.keys(*events, ns)) {
    if (!key.starts_with(begin)) continue;
    const auto event = objects.get(*events, key);
    if (!event || api::find_text(*event, "type") != "Warning") continue;
    if (api::find_text(*event, "reason") == "NotSupported") continue;  // it runs all the same
    const json::object& about = part(*event, "involvedObject");
    if (api::find_text(about, "kind") != "Pod") continue;
    const std::string at(api::find_text(*event, "lastTimestamp"));
    if (at < youngest) continue;
    youngest = at;
    out = fmt::format("pod {} did not start ({}): {}", api::find_text(about, "name"), at,
                      api::find_text(*event, "message"));
  }
  return out;
}

}  // namespace sluice::host
