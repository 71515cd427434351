#include "host/controllers/jobs/mapping.hpp"

#include <algorithm>

#include "host/objects/claims.hpp"

namespace sluice::host {
namespace {

/// The admitted workload of a plugin that is not there. Only the plugin knows what its workloads
/// are to each other, so until it comes back the job runs on by what was admitted.
const WorkloadOfJob* left_behind(const JobView& view, const std::vector<std::string>& loaded) {
  for (const WorkloadOfJob& workload : view.workloads)
    if (workload.admitted && workload.match != hooks::JobMatch::kOther &&
        !absent_plugin(workload, loaded).empty())
      return &workload;
  return nullptr;
}

/// One workload per job. The first that matches counts; one that does not is replaced.
MappingPlan classic(const JobView& view, const std::vector<std::string>& loaded) {
  MappingPlan out;
  if (const WorkloadOfJob* admitted = left_behind(view, loaded)) {
    out.plan.speaker = admitted->name;
    out.by_absent = true;
    return out;
  }
  const WorkloadOfJob* match = nullptr;
  const WorkloadOfJob* finished = nullptr;
  bool any_open = false;
  for (const WorkloadOfJob& workload : view.workloads) {
    const bool same = workload.match == hooks::JobMatch::kSame;
    any_open |= !workload.finished;
    if (same && workload.finished) finished = &workload;
    if (same && !workload.finished && !match) match = &workload;
  }
  if (!match && !any_open && finished) match = finished;
  if (match) {
    out.plan.speaker = match->name;
    for (const WorkloadOfJob& workload : view.workloads)
      if (&workload != match && !workload.finished) out.remove.push_back(workload.name);
  } else if (view.workloads.empty()) {
    out.plan.create.emplace_back();
  } else {
    out.plan.recreate = true;
  }
  return out;
}

}  // namespace

std::string absent_plugin(const WorkloadOfJob& workload, const std::vector<std::string>& loaded) {
  return claims_of(workload.object).first_absent(loaded);
}

MappingPlan plan_workloads(const MappingHooks& hooks, JobReader& reader, const JobView& view,
                           const ObjectAccess& objects) {
  if (!hooks.plan) return classic(view, hooks.loaded);
  MappingPlan out;
  hooks::Fault fault;
  hooks.plan->plan(reader.query(view, objects), out.plan, fault);
  if (fault)
    out.waits_because = fault.sentence();
  else if (!out.plan.conflict.empty())
    out.waits_because = out.plan.conflict;
  else if (out.plan.provider.empty())
    return classic(view, hooks.loaded);
  return out;
}

}  // namespace sluice::host
