// The part of a cycle that looks again at workloads which hold quota, and what admission checks
// mean for the heads.
#include "core/scheduling/recheck.hpp"

#include <algorithm>

#include "core/model/queue_order.hpp"
#include "core/scheduling/cycle.hpp"
#include "core/scheduling/own_view.hpp"

namespace sluice {
namespace {

bool applies_to(const QueueCheck& check, const Assignment& assignment, const Model& model) {
  if (check.all_flavors) return true;
  return std::any_of(assignment.choices.begin(), assignment.choices.end(),
                     [&](const ResourceChoice& choice) {
                       return std::binary_search(check.flavors.begin(), check.flavors.end(),
                                                 model.frs.flavor_of(choice.fr));
                     });
}

/// Did the walk choose what the workload has?
bool same_flavors(const Model& model, const Holding& holding, const Assignment& assignment) {
  std::size_t had = 0;
  for (const AssignedPodSet& pods : holding.pod_sets) had += pods.flavors.size();
  if (had != assignment.choices.size()) return false;
  return std::all_of(
      assignment.choices.begin(), assignment.choices.end(), [&](const ResourceChoice& choice) {
        const auto& flavors = holding.pod_sets[choice.pod_set].flavors;
        return std::any_of(flavors.begin(), flavors.end(), [&](const auto& each) {
          return each.first == choice.resource && each.second == model.frs.flavor_of(choice.fr);
        });
      });
}

}  // namespace

/// No admission check applies to what it gets: it is admitted with its reservation.
bool Cycle::starts_at_once(const Entry& entry) const {
  const std::vector<QueueCheck>& checks = model_.queues[entry.queue].checks;
  return std::none_of(checks.begin(), checks.end(), [&](const QueueCheck& check) {
    return applies_to(check, entry.nomination.assignment, model_);
  });
}

bool Cycle::holds_preemptions_back(const Entry& entry) const {
  const std::vector<QueueCheck>& checks = model_.queues[entry.queue].checks;
  return std::any_of(checks.begin(), checks.end(), [&](const QueueCheck& check) {
    return check.preempt_after_check && applies_to(check, entry.nomination.assignment, model_);
  });
}

/// Does it fit beside what runs now? Held reservations do not run, and neither does what was
/// reserved behind this one and waits for its checks; what the held ones plan to evict runs.
bool Cycle::fits_what_runs(const OrderKey& key, QueueId queue, std::span<const FrAmount> usage,
                           std::span<const Victim> victims) const {
  if (model_.held.empty() && held_.empty() && !late_) return true;
  Removal gone(model_);
  for (const WorkloadId held : model_.held)
    if (model_.same_root(held, queue)) gone.remove(held);
  for (const WorkloadId victim : victims_under(queue))
    if (!planned_.contains(victim)) gone.remove(victim);
  for (const Victim& victim : victims) gone.remove(victim.id);
  gone.remove(key.id);
  for (const Taken& held : held_) model_.ledger.subtract(held.queue, held.usage);
  const auto fits_now = [&] {
    const OwnView view(model_, key.id, queue);
    return std::all_of(usage.begin(), usage.end(),
                       [&](const FrAmount& u) { return model_.tree.fits(queue, u.fr, u.amount); });
  };
  bool fits = fits_now();
  if (!fits) {
    remove_waiting_behind(key, queue, gone);
    fits = fits_now();
  }
  for (const Taken& held : held_) model_.ledger.add(held.queue, held.usage);
  return fits;
}

/// Those of the same tree that have a reservation, wait for their checks, and come after this one.
void Cycle::remove_waiting_behind(const OrderKey& key, QueueId queue, Removal& gone) const {
  for (const QueueRecord& other : model_.queues) {
    if (model_.tree.root(other.id) != model_.tree.root(queue)) continue;
    for (const WorkloadId id : other.holders)
      if (model_.workloads[id].state == WorkloadState::kQuotaReserved &&
          key < order_key(model_, id))
        gone.remove(id);
  }
}

void Cycle::look_again(Recheck& recheck) {
  const WorkloadRecord& w = model_.workloads[recheck.id];
  if (victims_.contains(recheck.id)) return;  // an earlier one evicts it
  if (recheck.admits && lost_to_group(recheck.id)) {
    recheck.status = RecheckStatus::kLost;
    recheck.why = "Another workload of the same group was admitted";
    return;
  }
  if (const WorkloadId sibling = model_.sibling_in_the_way(recheck.id);
      recheck.admits && sibling != kNone) {
    if (sibling != model_.replaced_by(w)) return;
    recheck.status = RecheckStatus::kLost;
    recheck.why = "What it reserved is no better than what " + model_.key(sibling) + " has";
    return;
  }
  {
    Removal gone(model_);
    for (const WorkloadId id : victims_under(w.holding->queue)) gone.remove(id);
    gone.remove(recheck.id);
    Nominator(model_, config_, hooks_)
        .nominate_holder(recheck.id, !recheck.admits, recheck.nomination);
  }
  recheck.status = judge(recheck);
  if (recheck.status != RecheckStatus::kPasses) return;
  for (const Victim& victim : recheck.nomination.victims) add_victim(victim.id);
  if (run_on(recheck.nomination.victims)) return;  // it waits until they have ended
  if (recheck.admits) admit_in_this_cycle(recheck.id);
}

RecheckStatus Cycle::judge(Recheck& recheck) const {
  const WorkloadRecord& w = model_.workloads[recheck.id];
  const Nomination& n = recheck.nomination;
  if (!n.assignment.fault.empty()) return RecheckStatus::kWaits;
  if (n.vetoed || (!n.fits() && !n.preempts())) {
    recheck.why = n.veto_reason;
    return RecheckStatus::kLost;
  }
  if (!same_flavors(model_, *w.holding, n.assignment)) {
    recheck.why = "Other flavors would be chosen now than those that were reserved";
    return RecheckStatus::kLost;
  }
  const bool room = !recheck.admits ||
                    fits_what_runs(recheck.key, w.holding->queue, n.assignment.usage, n.victims);
  return room ? RecheckStatus::kPasses : RecheckStatus::kWaits;
}

}  // namespace sluice
