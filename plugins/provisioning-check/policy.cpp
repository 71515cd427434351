#include "policy.hpp"

#include <sluice/cpp/metadata.hpp>

#include <algorithm>

namespace provisioning {

namespace {

using sluice::CheckAnswer;
using sluice::Json;

Pairs pairs_at(const Json& object, std::string_view path) {
  Pairs out;
  const Json* map = object.find(path);
  if (map == nullptr) return out;
  for (const auto& [key, value] : map->members()) out.emplace_back(key, value.as_string());
  return out;
}

void set(Pairs& pairs, const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == key; });
  if (found == pairs.end())
    pairs.emplace_back(key, value);
  else
    found->second = value;
}

/// What of a pod decides where it can run.
Json scheduling_requirements(const Json& pod_template) {
  Json out = Json::object();
  for (const std::string_view list : {"initContainers", "containers"}) {
    const Json* containers = pod_template.find("spec." + std::string(list));
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const Json* requests = containers->items()[i].find("resources.requests");
      out[list].push_back(requests == nullptr ? Json::object() : *requests);
    }
  }
  for (const std::string_view field : {"nodeSelector", "affinity", "tolerations", "overhead"})
    if (const Json* value = pod_template.find("spec." + std::string(field))) out[field] = *value;
  return out;
}

Json updates_of(const Json& request, const Config& config,
                const std::vector<std::string>& pod_sets) {
  Json out = Json::array();
  for (const std::string& name : pod_sets) {
    Json update = Json::object();
    update["name"] = name;
    update["annotations"][kConsumeAnnotation] = request.string_or("metadata.name", "");
    update["annotations"][kClassAnnotation] = request.string_or("spec.provisioningClassName", "");
    const Json* details = request.find("status.provisioningClassDetails");
    for (const auto& [key, detail] : config.node_selector) {
      const Json* value = details == nullptr ? nullptr : details->member(detail);
      if (value != nullptr) update["nodeSelector"][key] = value->as_string();
    }
    out.push_back(std::move(update));
  }
  return out;
}

CheckAnswer again_or_never(const Config& config, std::int64_t attempt, const std::string& what,
                           const std::string& message) {
  if (attempt > config.retry_limit) return CheckAnswer::rejected(message);
  return CheckAnswer::retry("Retrying after " + what + ": " + message,
                            static_cast<std::int32_t>(backoff_seconds(config, attempt)));
}

}  // namespace

Config config_of(const Json& object) {
  Config out;
  out.class_name = object.string_or("spec.provisioningClassName", "");
  out.parameters = pairs_at(object, "spec.parameters");
  if (const Json* managed = object.find("spec.managedResources"))
    for (const Json& name : managed->items()) out.managed_resources.push_back(name.as_string());
  out.retry_limit = object.int_or("spec.retryStrategy.backoffLimitCount", out.retry_limit);
  out.retry_base_seconds =
      object.int_or("spec.retryStrategy.backoffBaseSeconds", out.retry_base_seconds);
  out.retry_max_seconds =
      object.int_or("spec.retryStrategy.backoffMaxSeconds", out.retry_max_seconds);
  if (const Json* selector = object.find("spec.podSetUpdates.nodeSelector"))
    for (const Json& each : selector->items())
      out.node_selector.emplace_back(each.string_or("key", ""),
                                     each.string_or("valueFromProvisioningClassDetail", ""));
  const std::string merge = object.string_or("spec.podSetMergePolicy", "");
  if (merge == "IdenticalPodTemplates") out.merge = Merge::kIdenticalTemplates;
  if (merge == "IdenticalWorkloadSchedulingRequirements")
    out.merge = Merge::kSameSchedulingRequirements;
  return out;
}

ConfigName config_name_of(const Json& check) {
  const Json* parameters = check.find("spec.parameters");
  if (parameters == nullptr) return {"", "spec.parameters has to name a ProvisioningRequestConfig"};
  const std::string group = parameters->string_or("apiGroup", "");
  const std::string kind = parameters->string_or("kind", "");
  if (group != "kueue.x-k8s.io" || kind != "ProvisioningRequestConfig")
    return {"", "spec.parameters names a " + kind + " of " + group +
                    "; a ProvisioningRequestConfig of kueue.x-k8s.io is needed"};
  return {parameters->string_or("name", ""), ""};
}

Pairs parameters_of(const Config& config, const Json& workload) {
  Pairs out = config.parameters;
  for (const auto& [key, value] : pairs_at(workload, "metadata.annotations"))
    if (key.starts_with(kParameterPrefix) && key.size() > kParameterPrefix.size())
      set(out, key.substr(kParameterPrefix.size()), value);
  return out;
}

bool is_managed(const Config& config, const Json& pod_template) {
  if (config.managed_resources.empty()) return true;
  const auto asks_for = [&](const Json* amounts) {
    if (amounts == nullptr) return false;
    return std::any_of(amounts->members().begin(), amounts->members().end(), [&](const auto& each) {
      return std::find(config.managed_resources.begin(), config.managed_resources.end(),
                       each.first) != config.managed_resources.end();
    });
  };
  for (const char* list : {"spec.containers", "spec.initContainers"}) {
    const Json* containers = pod_template.find(list);
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const Json& container = containers->items()[i];
      if (asks_for(container.find("resources.requests")) ||
          asks_for(container.find("resources.limits")))
        return true;
    }
  }
  return asks_for(pod_template.find("spec.overhead"));
}

void add_flavor(const Json& flavor, Json& pod_template) {
  for (const auto& [key, value] : pairs_at(flavor, "spec.nodeLabels"))
    pod_template["spec"]["nodeSelector"][key] = value;
  const Json* tolerations = flavor.find("spec.tolerations");
  for (std::size_t i = 0; tolerations != nullptr && i < tolerations->size(); ++i)
    pod_template["spec"]["tolerations"].push_back(tolerations->items()[i]);
}

std::vector<Share> merged(const std::vector<PodSet>& pod_sets, Merge merge) {
  const auto alike = [merge](const Json& a, const Json& b) {
    if (merge == Merge::kIdenticalTemplates) return a == b;
    return merge == Merge::kSameSchedulingRequirements &&
           scheduling_requirements(a) == scheduling_requirements(b);
  };
  std::vector<Share> out;
  for (const PodSet& set : pod_sets) {
    const auto found = std::find_if(out.begin(), out.end(), [&](const Share& share) {
      return alike(*share.pod_template, set.pod_template);
    });
    if (found == out.end())
      out.push_back({set.name, set.count, &set.pod_template});
    else
      found->count += set.count;
  }
  return out;
}

void leave_out_running(const Json& runs, std::vector<PodSet>& pod_sets) {
  if (!condition_is_true(runs, "Admitted") || condition_is_true(runs, "Finished")) return;
  const Json* assigned = runs.find("status.admission.podSetAssignments");
  if (assigned == nullptr) return;
  for (PodSet& set : pod_sets)
    for (const Json& each : assigned->items())
      if (each.string_or("name", "main") == set.name) set.count -= each.int_or("count", 0);
  std::erase_if(pod_sets, [](const PodSet& set) { return set.count <= 0; });
}

std::int64_t backoff_seconds(const Config& config, std::int64_t attempt) {
  std::int64_t seconds = std::max<std::int64_t>(config.retry_base_seconds, 0);
  const std::int64_t most = std::max<std::int64_t>(config.retry_max_seconds, 0);
  for (std::int64_t i = 1; i < attempt && seconds < most; ++i) seconds *= 2;
  return std::min(seconds, most);
}

std::string condition_message(const Json& object, std::string_view type) {
  const Json* found = find_condition(object, type);
  return found == nullptr ? std::string() : found->string_or("message", "");
}

bool is_settled(const Json& request) {
  return condition_is_true(request, "Provisioned") || condition_is_true(request, "Failed") ||
         condition_is_true(request, "BookingExpired") ||
         condition_is_true(request, "CapacityRevoked");
}

CheckAnswer answer_of(const Json& request, const Config& config, std::int64_t attempt,
                      bool admitted, const std::vector<std::string>& pod_sets) {
  if (condition_is_true(request, "Failed"))
    return again_or_never(config, attempt, "failure", condition_message(request, "Failed"));
  if (condition_is_true(request, "CapacityRevoked"))
    return CheckAnswer::rejected(condition_message(request, "CapacityRevoked"));
  if (condition_is_true(request, "BookingExpired") && !admitted)
    return again_or_never(config, attempt, "booking expired",
                          condition_message(request, "BookingExpired"));
  if (condition_is_true(request, "Provisioned"))
    return CheckAnswer::ready(condition_message(request, "Provisioned"),
                              updates_of(request, config, pod_sets).dump());
  if (condition_is_true(request, "Accepted")) {
    const std::string eta = condition_message(request, "Provisioned");
    return CheckAnswer::pending(eta.empty() ? condition_message(request, "Accepted") : eta);
  }
  return CheckAnswer::pending("");
}

}  // namespace provisioning
