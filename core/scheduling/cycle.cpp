#include "core/scheduling/cycle.hpp"

#include <algorithm>
#include <map>

#include "core/base/check.hpp"
#include "core/scheduling/entry_order.hpp"
#include "core/scheduling/own_view.hpp"

namespace sluice {
namespace {

/// Entries by the root of their queue, in order of root and then of entry.
std::map<NodeId, std::vector<std::size_t>> by_root(const QuotaTree& tree,
                                                   std::span<const Entry> entries) {
  std::map<NodeId, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < entries.size(); ++i) out[tree.root(entries[i].queue)].push_back(i);
  return out;
}

/// Whether there is nothing to be had for it in this cycle, and nothing to be kept for it either.
bool is_out(const Nomination& n) {
  return !n.assignment.fault.empty() || n.assignment.mode == Mode::kNoFit || n.vetoed;
}

}  // namespace

std::vector<std::size_t> Cycle::run(std::span<Entry> heads, std::span<Recheck> rechecks) {
  SLUICE_CHECK(!model_.tree_stale, "a cycle on a stale tree");
  SLUICE_CHECK(taken_.empty() && !replaced_, "a cycle runs twice");
  for (const Entry& head : heads)
    SLUICE_CHECK(head.status == EntryStatus::kNoRoom && model_.queues[head.queue].active(),
                 model_.key(head.id), " comes into the cycle decided, or from an inactive queue");
  nominate(heads);
  replaced_ = std::make_unique<Removal>(model_);
  for (Recheck& recheck : rechecks) look_again(recheck);
  std::vector<std::size_t> order;
  if (config_.fair_sharing) {
    for (const auto& [root, members] : by_root(model_.tree, heads)) {
      Tournament tournament(model_, heads, root, members);
      while (!tournament.empty()) {
        order.push_back(tournament.draw());
        process(heads[order.back()]);
      }
    }
  } else {
    order = classical_order(heads);
    for (const std::size_t i : order) process(heads[i]);
  }
  SLUICE_CHECK(order.size() == heads.size(), order.size(), " of ", heads.size(),
               " heads were processed");
  for (auto it = taken_.rbegin(); it != taken_.rend(); ++it)
    model_.ledger.subtract(it->queue, it->usage);
  replaced_->restore();
  return order;
}

void Cycle::nominate(std::span<Entry> heads) {
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [root, members] : by_root(model_.tree, heads)) groups.push_back(std::move(members));
  parallel_for_(groups.size(), [&](std::size_t g) {
    Nominator nominator(model_, config_, hooks_);
    for (const std::size_t i : groups[g])
      nominator.nominate(heads[i].id, heads[i].queue, heads[i].nomination);
  });
}

void Cycle::process(Entry& entry) {
  Nomination& n = entry.nomination;
  if (is_out(n)) return;
  if (lost_to_group(entry.id)) {
    entry.status = EntryStatus::kSkipped;
    return;
  }
  if (!n.fits() && !n.preempts()) return set_aside(entry);
  if (n.preempts() && overlaps(entry)) {
    const Assignment first = n.assignment;
    {
      Removal gone(model_);
      for (const WorkloadId id : victims_under(entry.queue)) gone.remove(id);
      Nominator(model_, config_, hooks_).nominate_again(entry.id, entry.queue, first, n);
    }
    if (is_out(n)) return;
    if (n.fits()) {
      entry.status = EntryStatus::kWaiting;
      take(entry);
      if (late_) held_.push_back(taken_.back());
      return;
    }
    if (!n.preempts()) return set_aside(entry);
  }
  const bool at_once = starts_at_once(entry);
  if (!fits_now(entry) ||
      (late_ && n.preempts() &&
       !fits_what_runs(entry.key, entry.queue, n.assignment.usage, n.victims))) {
    entry.status = EntryStatus::kSkipped;
    return;
  }
  const bool in_the_way = at_once && model_.sibling_in_the_way(entry.id) != kNone;
  if (!n.preempts() &&
      (in_the_way ||
       ((at_once || late_) && !fits_what_runs(entry.key, entry.queue, n.assignment.usage, {})))) {
    entry.status = EntryStatus::kBehind;
    return take(entry);
  }
  entry.status = EntryStatus::kReserved;
  if (n.preempts())
    entry.status = holds_preemptions_back(entry) ? EntryStatus::kHeld : EntryStatus::kPreempting;
  take(entry);
  for (const Victim& v : n.victims) add_victim(v.id);
  if (entry.status == EntryStatus::kHeld)
    for (const Victim& v : n.victims) planned_.insert(v.id);
  if (run_on(n.victims) || entry.status == EntryStatus::kHeld) held_.push_back(taken_.back());
}

/// Notes which victims run on when this cycle is over, because they end later; whether any does.
bool Cycle::run_on(std::span<const Victim> victims) {
  bool any = false;
  for (const Victim& v : victims) {
    if (!model_.ends_later(v.id, config_.jobs_end_later)) continue;
    planned_.insert(v.id);
    any = true;
  }
  late_ |= any;
  return any;
}

/// Reserves capacity for one that needs preemption and has no victims, so that lower ones do not
/// slip in front; not where it could reclaim its nominal quota at any time.
void Cycle::set_aside(const Entry& entry) {
  const QuotaTree& tree = model_.tree;
  const QueueRecord& queue = model_.queues[entry.queue];
  if (queue.spec->preemption.reclaim_within_cohort == api::ReclaimWithinCohort::kAny) return;
  const Assignment& a = entry.nomination.assignment;
  std::vector<FrAmount> reserve =
      model_.ledger.marginal(model_.workloads[entry.id], entry.queue, a.usage);
  for (FrAmount& r : reserve) {
    const Amount limit = tree.borrowing_limit(entry.queue, r.fr);
    if (a.level > 0 && limit == kUnlimited) continue;
    const Wide ceiling = Wide{tree.nominal(entry.queue, r.fr)} + (a.level > 0 ? limit : 0);
    const Wide room = ceiling - tree.usage(entry.queue, r.fr);
    r.amount = saturate(std::max<Wide>(0, std::min<Wide>(r.amount, room)));
  }
  add_for_this_cycle(entry.queue, std::move(reserve));
}

void Cycle::add_victim(WorkloadId id) {
  SLUICE_CHECK(model_.workloads[id].holds_quota(), model_.key(id), " is a victim without quota");
  victims_.insert(id);
  victims_of_root_[model_.tree.root(model_.workloads[id].holding->queue)].push_back(id);
}

/// Those of earlier entries that count under the root of this queue.
std::span<const WorkloadId> Cycle::victims_under(QueueId queue) const {
  const auto it = victims_of_root_.find(model_.tree.root(queue));
  return it == victims_of_root_.end() ? std::span<const WorkloadId>() : std::span(it->second);
}

bool Cycle::overlaps(const Entry& entry) const {
  return std::any_of(entry.nomination.victims.begin(), entry.nomination.victims.end(),
                     [this](const Victim& v) { return victims_.contains(v.id); });
}

/// An earlier one of this cycle ended it, or is admitted as the one member of its group.
bool Cycle::lost_to_group(WorkloadId candidate) const {
  if (std::find(ended_.begin(), ended_.end(), candidate) != ended_.end()) return true;
  if (reserved_.empty()) return false;
  const hooks::Traits* mine = model_.workloads[candidate].traits();
  if (!mine || !mine->has_group || !mine->group.represents) return false;
  return std::any_of(reserved_.begin(), reserved_.end(), [&](WorkloadId id) {
    return model_.workloads[id].traits()->group.id == mine->group.id;
  });
}

bool Cycle::fits_now(const Entry& entry) const {
  Removal gone(model_);
  for (const WorkloadId id : victims_under(entry.queue)) gone.remove(id);
  for (const Victim& v : entry.nomination.victims) gone.remove(v.id);
  const OwnView view(model_, entry.id, entry.queue);
  const std::vector<FrAmount>& usage = entry.nomination.assignment.usage;
  return std::all_of(usage.begin(), usage.end(), [&](const FrAmount& u) {
    return model_.tree.fits(entry.queue, u.fr, u.amount);
  });
}

void Cycle::take(const Entry& entry) {
  const WorkloadRecord& w = model_.workloads[entry.id];
  if (entry.status == EntryStatus::kReserved && starts_at_once(entry))
    admit_in_this_cycle(entry.id);
  add_for_this_cycle(entry.queue,
                     model_.ledger.marginal(w, entry.queue, entry.nomination.assignment.usage));
}

/// What the admission ends is not counted for those that come later in this cycle.
void Cycle::admit_in_this_cycle(WorkloadId id) {
  const WorkloadRecord& w = model_.workloads[id];
  if (!w.extras) return;
  if (const WorkloadId replaced = model_.replaced_by(w); replaced != kNone) {
    ended_.push_back(replaced);
    const WorkloadRecord& r = model_.workloads[replaced];
    // As a victim it would be evicted twice: a preemptor that wants it looks for others.
    if (r.holds_quota()) add_victim(replaced);
    replaced_->remove(replaced);
  }
  if (w.extras->traits.has_group && w.extras->traits.group.represents) reserved_.push_back(id);
}

void Cycle::add_for_this_cycle(QueueId queue, std::vector<FrAmount> usage) {
  SLUICE_CHECK(queue < model_.queues.size(), "capacity is taken in queue ", queue, " of ",
               model_.queues.size());
  model_.ledger.add(queue, usage);
  taken_.push_back({queue, std::move(usage)});
}

}  // namespace sluice
