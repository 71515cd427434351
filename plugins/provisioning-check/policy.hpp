// What the check decides, as pure functions: what a ProvisioningRequestConfig says, which pod sets
// need capacity, which of them are asked for together, and what the conditions of a
// ProvisioningRequest mean for the check.
#pragma once

#include <sluice/cpp/checks.hpp>
#include <sluice/cpp/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace provisioning {

inline constexpr std::string_view kControllerName = "kueue.x-k8s.io/provisioning-request";
inline constexpr std::string_view kConsumeAnnotation =
    "autoscaling.x-k8s.io/consume-provisioning-request";
inline constexpr std::string_view kClassAnnotation = "autoscaling.x-k8s.io/provisioning-class-name";
inline constexpr std::string_view kParameterPrefix = "provreq.kueue.x-k8s.io/";

using Pairs = std::vector<std::pair<std::string, std::string>>;

enum class Merge : std::uint8_t { kNever, kIdenticalTemplates, kSameSchedulingRequirements };

/// A ProvisioningRequestConfig, defaults filled in.
struct Config {
  std::string class_name;
  Pairs parameters;
  std::vector<std::string> managed_resources;  ///< empty: every pod set needs capacity
  std::int64_t retry_limit = 3;
  std::int64_t retry_base_seconds = 60;
  std::int64_t retry_max_seconds = 1800;
  Pairs node_selector;  ///< key, and the provisioning class detail that is its value
  Merge merge = Merge::kNever;
};

Config config_of(const sluice::Json& object);

/// The name of the ProvisioningRequestConfig that an AdmissionCheck refers to, or why there is
/// none.
struct ConfigName {
  std::string name;
  std::string wrong;  ///< empty: all is well
};
ConfigName config_name_of(const sluice::Json& check);

/// The parameters of the configuration; annotations of the workload with the prefix add to them and
/// go before them.
Pairs parameters_of(const Config& config, const sluice::Json& workload);

/// A pod set of a workload with what its admission adds to the template.
struct PodSet {
  std::string name;
  std::int64_t count = 0;
  sluice::Json pod_template;
};

/// Those of the admission that need capacity, in order. `flavor(name)` gives a ResourceFlavor, or
/// null JSON.
template <typename Flavor>
std::vector<PodSet> pod_sets_of(const Config& config, const sluice::Json& workload,
                                Flavor&& flavor);

/// Leaves out the pods that run already, by pod set: those of `runs`, if it is admitted.
void leave_out_running(const sluice::Json& runs, std::vector<PodSet>& pod_sets);

/// Pods of one template that are asked for together.
struct Share {
  std::string pod_set;  ///< whose template it is
  std::int64_t count = 0;
  const sluice::Json* pod_template = nullptr;
};
/// The views are of `pod_sets`.
std::vector<Share> merged(const std::vector<PodSet>& pod_sets, Merge merge);

/// Seconds before the attempt that follows attempt number `attempt` (from 1).
std::int64_t backoff_seconds(const Config& config, std::int64_t attempt);

std::string condition_message(const sluice::Json& object, std::string_view type);
/// Nothing more will come of the request by itself.
bool is_settled(const sluice::Json& request);

/// What a request means for its check. `attempt` counts from 1; `admitted`: the workload runs.
sluice::CheckAnswer answer_of(const sluice::Json& request, const Config& config,
                              std::int64_t attempt, bool admitted,
                              const std::vector<std::string>& pod_sets);

// ---- details of pod_sets_of()

bool is_managed(const Config& config, const sluice::Json& pod_template);
void add_flavor(const sluice::Json& flavor, sluice::Json& pod_template);

template <typename Flavor>
std::vector<PodSet> pod_sets_of(const Config& config, const sluice::Json& workload,
                                Flavor&& flavor) {
  std::vector<PodSet> out;
  const sluice::Json* sets = workload.find("spec.podSets");
  const sluice::Json* assigned = workload.find("status.admission.podSetAssignments");
  if (sets == nullptr || assigned == nullptr) return out;
  for (const sluice::Json& set : sets->items()) {
    const sluice::Json* found = set.find("template");
    PodSet one{set.string_or("name", "main"), set.int_or("count", 1),
               found == nullptr ? sluice::Json::object() : *found};
    if (!is_managed(config, one.pod_template)) continue;
    for (const sluice::Json& assignment : assigned->items()) {
      if (assignment.string_or("name", "main") != one.name) continue;
      one.count = assignment.int_or("count", one.count);
      std::vector<std::string> done;
      const sluice::Json* flavors = assignment.find("flavors");
      for (std::size_t i = 0; flavors != nullptr && i < flavors->size(); ++i) {
        const std::string& name = flavors->members()[i].second.as_string();
        if (std::find(done.begin(), done.end(), name) != done.end()) continue;
        done.push_back(name);
        add_flavor(flavor(name), one.pod_template);
      }
    }
    if (one.count > 0) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace provisioning
