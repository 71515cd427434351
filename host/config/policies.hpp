// Sections that Sluice's configuration and Kueue's have in common, under the same keys.
//
// Each reads what is there and leaves the rest as it is; mistakes go to the section's errors. Used
// while a file is loaded, on one thread.
#pragma once

#include "core/types/engine_config.hpp"
#include "core/types/meta.hpp"
#include "host/config/config.hpp"
#include "host/config/section.hpp"

namespace sluice::host {

/// preemptionStrategies.
void read_preemption_strategies(Section& section, EngineConfig& out);

/// requeuingStrategy and the keys in it.
void read_requeuing(Section& pods_ready, RequeueConfig& out);

/// excludeResourcePrefixes and transformations.
void read_resource_rules(Section& resources, ResourceRules& out);

/// workloads and the keys in it.
void read_retention(Section& policies, RetentionConfig& out);

/// manageJobsWithoutQueueName, managedJobsNamespaceSelector and labelKeysToCopy.
void read_managed_jobs(Section& root, ManagedJobs& out);
/// The last of them alone, which Kueue has elsewhere.
void read_copied_labels(Section& section, ManagedJobs& out);

/// matchLabels and matchExpressions, in place of what was there before.
void read_label_selector(Section& section, api::LabelSelector& out);

}  // namespace sluice::host
