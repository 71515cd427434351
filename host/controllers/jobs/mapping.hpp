// The plan for a job's workloads: what a plugin says (job-mapping/1), else the classic mapping, in
// which a job has one workload and a change that no longer matches makes a new one. For the
// kernel's thread.
#pragma once

#include <string>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/controllers/jobs/job_view.hpp"

namespace sluice::host {

struct MappingPlan {
  hooks::JobPlan plan;
  std::vector<std::string> remove;  ///< workloads that are superfluous; the classic mapping only
  std::string waits_because;        ///< plugins failed or disagree: nothing is to be done
  bool by_absent = false;           ///< what a plugin that is not there left behind

  /// No plugin has to do with the job.
  bool is_classic() const { return plan.provider.empty() && waits_because.empty() && !by_absent; }
};

/// Plugins that are there: the hook, which may be nullptr, and the names of all that are loaded.
struct MappingHooks {
  hooks::JobMapping* plan = nullptr;
  std::vector<std::string> loaded;
};

/// The plugin that claims the workload and is not loaded; empty: there is none.
std::string absent_plugin(const WorkloadOfJob& workload, const std::vector<std::string>& loaded);

MappingPlan plan_workloads(const MappingHooks& hooks, JobReader& reader, const JobView& view,
                           const ObjectAccess& objects);

}  // namespace sluice::host
