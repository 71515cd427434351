// ManagedJobs: in which namespaces jobs are held, and whether also those that name no queue
// (Kueue's managedJobsNamespaceSelector and manageJobsWithoutQueueName).
//
// A plain value; its functions may be called from any thread.
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
  /// In which they are. Jobs of the system run whatever they name.
  api::LabelSelector namespaces{
      {}, {{std::string(kNameLabel), api::LabelSelector::Operator::kNotIn, {"kube-system"}}}};

  /// Whether jobs of this namespace are held: others run whatever they name. What is not an object
  /// of its own has no labels but its name.
  bool covers(std::string_view ns, const ObjectReader& objects) const;
  /// Whether one of them is held that names no queue.
  bool holds(std::string_view ns, const ObjectReader& objects) const {
    return without_queue && covers(ns, objects);
  }
  /// As JSON, by the names of the configuration: what plugins may take as defaults of their own
  /// configuration (ConfigSchema's `defaultFrom`).
  std::string for_plugins() const;
};

}  // namespace sluice::host
