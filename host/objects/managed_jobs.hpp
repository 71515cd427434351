// ManagedJobs: in which namespaces jobs are held, whether also those that name no queue, and which
// of their labels their Workloads get (Kueue's managedJobsNamespaceSelector,
// manageJobsWithoutQueueName and labelKeysToCopy).
//
// A plain value; its functions may be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types/meta.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// The label of each Namespace that holds its name.
inline constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";
/// The label of a Workload that holds the UID of its job.
inline constexpr std::string_view kJobUidLabel = "kueue.x-k8s.io/job-uid";

struct ManagedJobs {
  bool without_queue = false;
  /// In which they are. Jobs of the system run whatever they name.
  api::LabelSelector namespaces{
      {}, {{std::string(kNameLabel), api::LabelSelector::Operator::kNotIn, {"kube-system"}}}};

  /// Labels that a Workload gets from its job when it is made, where the job has them.
  std::vector<std::string> copied_labels;

  /// Whether jobs of this namespace are held: others run whatever they name. nullopt: that is a
  /// matter of its labels, and the namespace is not there, or not yet.
  std::optional<bool> covers(std::string_view ns, const ObjectReader& objects) const;
  /// The same of a namespace with these labels.
  bool covers(std::string_view ns, api::LabelMap labels) const;
  /// As JSON, by the names of the configuration: what plugins may take as defaults of their own
  /// configuration (ConfigSchema's `defaultFrom`).
  std::string for_plugins() const;
};

}  // namespace sluice::host
