#include "host/explain/pod_troubles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/json/json.hpp"
#include "host/explain/obstacles.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/pods.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

// Of one job; to read so many takes some milliseconds, for which writers wait.
constexpr std::size_t kMostPods = 1000;

std::string controller_name(const json::object& workload) {
  std::string out;
  for_each_object(part(workload, "metadata"), "ownerReferences", [&](const json::object& owner) {
    if (api::find_bool(owner, "controller", false)) out = api::find_text(owner, "name");
  });
  return out;
}

/// Names of other jobs of the namespace that begin as the pods of this one do: `train-b` beside
/// `train`. Their pods are theirs.
std::vector<std::string> longer_names(const ObjectAccess& objects, std::string_view ns,
                                      const std::string& begin) {
  std::vector<std::string> out;
  for (const api::KindInfo* kind : objects.scheme().kinds()) {
    if (kind->job == nullptr) continue;
    for (const std::string& key : objects.keys(*kind, ns))
      if (key.starts_with(begin)) out.push_back(key + "-");
  }
  return out;
}

/// It came into being after all.
bool runs(const ObjectAccess& objects, std::string_view ns, const json::object& about) {
  const auto pod =
      objects.get(*objects.scheme().find("v1", "Pod"), join_key(ns, api::find_text(about, "name")));
  if (!pod || api::find_text(part(*pod, "metadata"), "uid") != api::find_text(about, "uid"))
    return false;
  const std::string_view phase = api::find_text(part(*pod, "status"), "phase");
  return phase == "Running" || phase == "Succeeded";
}

}  // namespace

std::string trouble_of_pods(const ObjectAccess& objects, const std::string& workload) {
  const auto object = objects.get(api::kueue_kind(objects.scheme(), "Workload"), workload);
  const std::string job = object ? controller_name(*object) : "";
  const api::KindInfo* events = objects.scheme().find("v1", "Event");
  if (job.empty() || !events || has_condition(part(*object, "status"), "PodsReady")) return {};
  const std::string_view ns = namespace_of(workload);
  const std::string begin = join_key(ns, job) + "-";  // as pods are called, and Events about them
  const std::vector<std::string> others = longer_names(objects, ns, begin);
  std::string out, youngest;
  for (const std::string& key : objects.keys(*events, ns)) {
    const auto is_begin = [&key](const std::string& other) { return key.starts_with(other); };
    if (!is_begin(begin) || std::any_of(others.begin(), others.end(), is_begin)) continue;
    const auto event = objects.get(*events, key);
    if (!event || api::find_text(*event, "type") != "Warning") continue;
    if (api::find_text(*event, "reason") == "NotSupported") continue;  // it runs all the same
    const json::object& about = part(*event, "involvedObject");
    if (api::find_text(about, "kind") != "Pod" || runs(objects, ns, about)) continue;
    const std::string at(api::find_text(*event, "lastTimestamp"));
    if (at < youngest) continue;
    youngest = at;
    out = fmt::format("pod {} did not start ({}): {}", api::find_text(about, "name"), at,
                      api::find_text(*event, "message"));
  }
  return out;
}

std::string failure_of_pods(const ObjectAccess& objects, const std::string& workload) {
  const auto object = objects.get(api::kueue_kind(objects.scheme(), "Workload"), workload);
  const api::KindInfo* pods = objects.scheme().find("v1", "Pod");
  if (!object || !pods) return {};
  const std::string_view ns = namespace_of(workload);
  LastFailure failure;
  std::size_t looked_at = 0;
  const auto look_at = [&](std::string_view key) {
    if (++looked_at > kMostPods) return;
    if (const auto pod = objects.get(*pods, key)) failure.look_at(*pod);
  };
  for_each_object(part(*object, "metadata"), "ownerReferences", [&](const json::object& owner) {
    // Pods without a job own the workload that they are.
    if (api::find_text(owner, "kind") == "Pod")
      return look_at(join_key(ns, api::find_text(owner, "name")));
    for (const ObjectRef& each : objects.owned_by(api::find_text(owner, "uid"), ns))
      if (each.kind == pods) look_at(each.key);
  });
  return failure.text();
}

}  // namespace sluice::host
