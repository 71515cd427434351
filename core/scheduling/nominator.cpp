#include "core/scheduling/nominator.hpp"

#include "core/base/check.hpp"
#include "core/scheduling/own_view.hpp"
#include "core/scheduling/search_policy.hpp"

namespace sluice {

namespace {

void refuse(std::string why, Nomination& out) {
  out.assignment.clear();
  out.assignment.mode = Mode::kNoFit;
  out.victims.clear();
  out.vetoed = true;
  out.veto_reason = std::move(why);
}

/// As the workload would hold it.
std::vector<AssignedPodSet> placement_in(const Model& model, const Assignment& assignment) {
  std::vector<AssignedPodSet> out(assignment.counts.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i].count = assignment.counts[i];
  for (const ResourceChoice& r : assignment.choices)
    out[r.pod_set].flavors.emplace_back(r.resource, model.frs.flavor_of(r.fr));
  return out;
}

}  // namespace

void Nominator::nominate(WorkloadId id, QueueId queue_id, Nomination& out) {
  const WorkloadRecord& workload = model_.workloads[id];
  // With checks a second member may wait for its turn with a reservation; without, it would be
  // admitted beside the first.
  const bool admits = model_.queues[queue_id].checks.empty();
  if (const WorkloadId sibling = model_.sibling_in_the_way(id); sibling != kNone) {
    const bool ended = model_.workloads[sibling].state == WorkloadState::kFinished;
    if (ended || admits)
      return refuse("Workload " + model_.key(sibling) + " of the same group " +
                        (ended ? "has finished" : "is admitted already"),
                    out);
  }
  std::string fault;
  const bool resume = position_holds(workload, model_.queues[queue_id], fault);
  run(id, queue_id, resume ? workload.scan.get() : nullptr, nullptr, out);
  if (!fault.empty()) out.assignment.fault = fault;
}

void Nominator::nominate_again(WorkloadId id, QueueId queue, const Assignment& first,
                               Nomination& out) {
  run(id, queue, nullptr, &first, out);
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
  if (fault) fault_text = fault.sentence();
  return keep;
}

/// One assignment with the counts in counts_, and the victims for all of it.
void Nominator::attempt(WorkloadId id, QueueId queue, const AssignOptions& options,
                        Nomination& out) {
  out.victims.clear();
  out.vetoed = false;
  out.veto_reason.clear();
  out.vetoed_by.clear();
  assigner_.assign(id, queue, counts_, options, out.assignment);
  const Assignment& a = out.assignment;
  if (a.mode == Mode::kFit || a.mode == Mode::kNoFit || !options.may_preempt) return;
  const std::vector<FrId> contested = a.contested();
  // A request for one fr alone is what the walk over the flavors has simulated already.
  VetoNote note;
  const FlavorAssigner::Simulated* known = nullptr;
  if (a.usage.size() == 1 && contested.size() == 1)
    known = assigner_.simulated_for(a.usage.front());
  if (known) {
    out.victims = known->victims;
    note = known->note;
  } else {
    out.victims = finder_.find({id, queue, a.usage, contested, &note});
  }
  if (note.fault) {
    out.assignment.fault = note.fault.sentence();
  } else if (out.victims.empty() && note.hands_off) {
    out.vetoed = true;
    out.veto_reason = std::move(note.reason);
    out.vetoed_by = std::move(note.by);
  }
}

/// May it preempt at all? A fault is a no.
hooks::VetoAnswer Nominator::ask_veto(const WorkloadRecord& workload, QueueId queue) const {
  hooks::VetoAnswer veto;
  if (!hooks_.preemption_veto) return veto;
  hooks::Fault fault;
  hooks_.preemption_veto->veto({*workload.object, queue, {}, model_.queues[queue].spec.get()}, veto,
                               fault);
  if (!fault) return veto;
  veto.may_not_preempt = true;
  veto.reason = fault.sentence();
  return veto;
}

void Nominator::nominate_holder(WorkloadId id, bool same_flavors, Nomination& out) {
  const WorkloadRecord& workload = model_.workloads[id];
  SLUICE_CHECK(workload.holds_quota() && !workload.counted, workload.key,
               " is nominated as a holder and holds nothing, or it counts");
  const Holding& holding = *workload.holding;
  const OwnView view(model_, id, holding.queue);
  Assignment had;
  counts_.clear();
  for (std::size_t i = 0; i < holding.pod_sets.size(); ++i) {
    counts_.push_back(workload.pod_sets[i].remaining_of(holding.pod_sets[i].count));
    for (const auto& [resource, flavor] : holding.pod_sets[i].flavors) {
      ResourceChoice& choice = had.choices.emplace_back();
      choice.resource = resource;
      choice.fr = model_.frs.intern(flavor, resource);
      choice.pod_set = static_cast<std::uint32_t>(i);
    }
  }
  hooks::VetoAnswer veto = ask_veto(workload, holding.queue);
  const AssignOptions options{nullptr, same_flavors ? &had : nullptr, !veto.may_not_preempt};
  attempt(id, holding.queue, options, out);
  if (!veto.may_not_preempt || out.fits() || out.assignment.mode == Mode::kNoFit) return;
  out.vetoed = true;
  out.veto_reason = std::move(veto.reason);
  out.vetoed_by = std::move(veto.by);
}

void Nominator::run(WorkloadId id, QueueId queue, const ScanPosition* resume,
                    const Assignment* only, Nomination& out) {
  const WorkloadRecord& workload = model_.workloads[id];
  const OwnView view(model_, id, queue);
  hooks::VetoAnswer veto = ask_veto(workload, queue);
  const bool forbidden = veto.may_not_preempt;
  const AssignOptions options{resume, only, !forbidden};
  counts_.clear();
  for (const PodSetRecord& p : workload.pod_sets) counts_.push_back(p.remaining());
  attempt(id, queue, options, out);
  if (out.assignment.fault.empty() && !out.fits() && !out.preempts())
    find_partial(id, queue, options, out);
  if (forbidden && !out.fits() && out.assignment.mode != Mode::kNoFit) {
    out.vetoed = true;
    out.veto_reason = std::move(veto.reason);
    out.vetoed_by = std::move(veto.by);
  }
  if (out.assignment.fault.empty()) refuse_unless_better(workload, queue, out);
}

/// What would not be better than that which it replaces, where only that is wanted, is refused.
void Nominator::refuse_unless_better(const WorkloadRecord& workload, QueueId queue,
                                     Nomination& out) const {
  const WorkloadId replaced = model_.replaced_by(workload);
  if (replaced == kNone || !workload.extras->traits.replaces.only_better) return;
  const WorkloadRecord& r = model_.workloads[replaced];
  if (!r.holds_quota() || out.assignment.mode == Mode::kNoFit) return;
  switch (compare_placements(model_.queues[queue], placement_in(model_, out.assignment),
                             placement_of(r))) {
    case Gain::kBetter:
      return;
    case Gain::kFewerPods:
      return refuse("It would run fewer pods than " + r.key + " does", out);
    case Gain::kNoBetterFlavor:
      return refuse("It would get no better flavor than " + r.key + " has", out);
  }
}

/// Bisects over smaller counts (semantics 4, "Partial admission"); without success `best` stays.
/// The counts are those of the spec, whatever is reclaimable, but of a pod set with nothing left.
bool Nominator::find_partial(WorkloadId id, QueueId queue, const AssignOptions& options,
                             Nomination& best) {
  const std::vector<PodSetRecord>& pod_sets = model_.workloads[id].pod_sets;
  std::int64_t total = 0;
  for (const PodSetRecord& p : pod_sets)
    if (p.min_count > 0) total += p.count - p.min_count;
  if (total == 0) return false;
  bool found = false;
  std::int64_t low = 0;
  std::int64_t high = total + 1;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (middle > total) break;
    counts_.clear();
    for (const PodSetRecord& p : pod_sets) {
      const std::int64_t spread = p.min_count > 0 ? p.count - p.min_count : 0;
      const std::int64_t smaller = p.count - spread * middle / total;
      counts_.push_back(p.remaining() == 0 ? 0 : static_cast<std::int32_t>(smaller));
    }
    attempt(id, queue, options, tried_);
    const bool faulty = !tried_.assignment.fault.empty();
    if (faulty || tried_.fits() || tried_.preempts()) {
      std::swap(best, tried_);
      if (faulty) return true;
      found = true;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return found;
}

}  // namespace sluice
