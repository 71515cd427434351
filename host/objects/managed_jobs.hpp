// ManagedJobs: whether jobs that name no queue are held all the same, and where (Kueue's
// manageJobsWithoutQueueName and managedJobsNamespaceSelector).
//
// A plain value; holds() may be called from any thread. A job that names a queue is held wherever
// it is.
#pragma once

#include <string>
#include <string_view>

#include "core/types/meta.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

/// The label of each Namespace that holds its name.
inline constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

struct ManagedJobs {
  bool without_queue = false;
  /// In which they are. Jobs of the system are held only when they name a queue.
  api::LabelSelector namespaces{
      {}, {{std::string(kNameLabel), api::LabelSelector::Operator::kNotIn, {"kube-system"}}}};

  /// Whether a job of this namespace is held that names no queue. What is not an object of its own
  /// has no labels but its name.
  bool holds(std::string_view ns, const ObjectReader& objects) const;
};

}  // namespace sluice::host
