#include "host/controllers/jobs/mapping.hpp"

namespace sluice::host {
namespace {

/// One workload per job. The first that matches counts; one that does not is replaced.
MappingPlan classic(const JobView& view) {
  MappingPlan out;
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

MappingPlan plan_workloads(hooks::JobMapping* hook, JobReader& reader, const JobView& view,
                           const ObjectAccess& objects) {
  if (!hook) return classic(view);
  MappingPlan out;
  hooks::Fault fault;
  hook->plan(reader.query(view, objects), out.plan, fault);
  if (fault)
    out.waits_because = fault.sentence();
  else if (!out.plan.conflict.empty())
    out.waits_because = out.plan.conflict;
  else if (out.plan.provider.empty())
    return classic(view);
  return out;
}

}  // namespace sluice::host
