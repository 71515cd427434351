#include "core/scheduling/nominator.hpp"

#include "core/scheduling/flavor_assigner.hpp"
#include "core/scheduling/own_view.hpp"
#include "core/scheduling/search_policy.hpp"

namespace sluice {

/// One workload's tries with different counts.
struct Nominator::Attempt {
  FlavorAssigner assigner;
  VictimFinder finder;
  const WorkloadRecord& workload;
  WorkloadId id;
  QueueId queue;
  AssignOptions options;

  Nomination with(const std::vector<std::int32_t>& counts) {
    Nomination out;
    out.assignment = assigner.assign(counts, options);
    const Assignment& a = out.assignment;
    if (a.mode == Mode::kFit || a.mode == Mode::kNoFit || !options.may_preempt) return out;
    const std::vector<FrId> contested = a.contested();
    out.victims = finder.find({id, queue, a.usage, contested});
    return out;
  }
};

Nomination Nominator::nominate(WorkloadId id, QueueId queue_id) const {
  const WorkloadRecord& workload = model_.workloads[id];
  std::string fault;
  const bool resume = position_holds(workload, model_.queues[queue_id], fault);
  Nomination out = run(id, queue_id, resume ? workload.scan.get() : nullptr, nullptr);
  if (!fault.empty()) out.assignment.fault = fault;
  return out;
}

Nomination Nominator::nominate_again(WorkloadId id, QueueId queue, const Assignment& first) const {
  return run(id, queue, nullptr, &first);
}

bool Nominator::position_holds(const WorkloadRecord& workload, const QueueRecord& queue,
                               std::string& fault_text) const {
  const ScanPosition* scan = workload.scan.get();
  if (!scan || scan->shape != workload.shape || scan->priority != workload.priority) return false;
  hooks::PositionAge age;
  age.queue = queue.id;
  age.cycles = model_.cycle - scan->cycle;
  age.queue_generations = queue.generation - scan->queue_generation;
  age.tree_generations = model_.tree_generation(queue.id) - scan->tree_generation;
  hooks::Fault fault;
  const bool keep = keep_position(hooks_, age, fault);
  if (fault) fault_text = fault.text;
  return keep;
}

Nomination Nominator::run(WorkloadId id, QueueId queue, const ScanPosition* resume,
                          const Assignment* only) const {
  const WorkloadRecord& workload = model_.workloads[id];
  const OwnView view(model_, id);
  Attempt attempt{FlavorAssigner(model_, config_, hooks_, id, queue),
                  VictimFinder(model_, config_, hooks_),
                  workload,
                  id,
                  queue,
                  AssignOptions{resume, only, true}};
  hooks::VetoAnswer veto;
  if (hooks_.preemption_veto) {
    hooks::Fault fault;
    hooks_.preemption_veto->veto({*workload.object, queue, {}}, veto, fault);
    if (fault) {
      veto.may_not_preempt = true;
      veto.reason = fault.text;
    }
    attempt.options.may_preempt = !veto.may_not_preempt;
  }
  std::vector<std::int32_t> counts;
  counts.reserve(workload.pod_sets.size());
  for (const PodSetRecord& p : workload.pod_sets)
    counts.push_back(std::max(0, p.count - p.reclaimable));
  Nomination full = attempt.with(counts);
  Nomination smaller;
  const bool short_of = full.assignment.fault.empty() && !full.fits() && !full.preempts();
  Nomination out =
      short_of && find_partial(attempt, smaller) ? std::move(smaller) : std::move(full);
  out.vetoed = veto.may_not_preempt && !out.fits() && out.assignment.mode != Mode::kNoFit;
  out.veto_reason = std::move(veto.reason);
  return out;
}

bool Nominator::find_partial(Attempt& attempt, Nomination& best) const {
  const std::vector<PodSetRecord>& pod_sets = attempt.workload.pod_sets;
  std::int64_t total = 0;
  for (const PodSetRecord& p : pod_sets)
    if (p.min_count > 0) total += p.count - p.min_count;
  if (total == 0) return false;
  bool found = false;
  std::int64_t low = 0;
  std::int64_t high = total + 1;
  std::vector<std::int32_t> counts(pod_sets.size());
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (middle > total) break;
    for (std::size_t i = 0; i < pod_sets.size(); ++i) {
      const PodSetRecord& p = pod_sets[i];
      const std::int64_t spread = p.min_count > 0 ? p.count - p.min_count : 0;
      counts[i] = static_cast<std::int32_t>(p.count - spread * middle / total);
    }
    Nomination tried = attempt.with(counts);
    if (tried.fits() || tried.preempts()) {
      best = std::move(tried);
      found = true;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return found;
}

}  // namespace sluice
