#include "host/explain/obstacles.hpp"

#include <fmt/format.h>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/base/text.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kFewQueues = 5;

std::string missing_local(const ObjectAccess& objects, const std::string& ns,
                          const std::string& name) {
  std::vector<std::string> names;
  for (const std::string& key : objects.keys(api::kueue_kind(objects.scheme(), "LocalQueue"), ns))
    names.emplace_back(split_key(key).name);
  const std::string there = there_are(names, kFewQueues);
  if (name.empty())
    return fmt::format(
        "it names no queue: label kueue.x-k8s.io/queue-name has to name a LocalQueue "
        "of namespace {} ({})",
        ns, there);
  return fmt::format(
      "LocalQueue {} does not exist in namespace {} ({}): it has to be created, or another to be "
      "named",
      name, ns, there);
}

/// Empty when it goes on.
std::string stopped(const char* kind, const std::string& name, const json::object& queue) {
  const std::string_view policy = api::find_text(part(queue, "spec"), "stopPolicy");
  if (policy.empty() || policy == "None") return {};
  return fmt::format("{} {} is stopped ({}): its spec.stopPolicy has to become None", kind, name,
                     policy);
}

std::string not_active(const char* kind, const std::string& name, const json::object& queue) {
  const json::object* active = find_condition(part(queue, "status"), "Active");
  if (!active || api::find_text(*active, "status") != "False") return {};
  return fmt::format("{} {} is not active ({}): {}", kind, name, api::find_text(*active, "reason"),
                     api::find_text(*active, "message"));
}

/// Of a ClusterQueue that is there.
std::string obstacle_in(const std::string& name, const json::object& queue) {
  std::string text = stopped("ClusterQueue", name, queue);
  return text.empty() ? not_active("ClusterQueue", name, queue) : text;
}

}  // namespace

std::vector<std::string> obstacles_of(const ObjectAccess& objects, const std::string& ns,
                                      const std::string& local_queue) {
  const auto local =
      objects.get(api::kueue_kind(objects.scheme(), "LocalQueue"), join_key(ns, local_queue));
  if (!local) return {missing_local(objects, ns, local_queue)};
  std::vector<std::string> out;
  if (std::string text = stopped("LocalQueue", local_queue, *local); !text.empty())
    out.push_back(std::move(text));
  const std::string name(api::find_text(part(*local, "spec"), "clusterQueue"));
  const auto queue = objects.get(api::kueue_kind(objects.scheme(), "ClusterQueue"), name);
  if (!queue)
    out.push_back(fmt::format(
        "ClusterQueue {}, which LocalQueue {} names, does not exist: it has to be created", name,
        local_queue));
  else if (std::string text = obstacle_in(name, *queue); !text.empty())
    out.push_back(std::move(text));
  return out;
}

std::string obstacle_of_queue(const ObjectAccess& objects, const std::string& cluster_queue) {
  const auto queue = objects.get(api::kueue_kind(objects.scheme(), "ClusterQueue"), cluster_queue);
  return queue ? obstacle_in(cluster_queue, *queue)
               : fmt::format("ClusterQueue {} does not exist", cluster_queue);
}

std::string obstacle_of_check(const ObjectAccess& objects, const std::string& check) {
  const auto object = objects.get(api::kueue_kind(objects.scheme(), "AdmissionCheck"), check);
  if (!object)
    return fmt::format("AdmissionCheck {} does not exist: it has to be created again", check);
  return not_active("AdmissionCheck", check, *object);
}

}  // namespace sluice::host
