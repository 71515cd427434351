#include "core/engine/queue_views.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/engine/activity.hpp"
#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "core/quota/fair_share.hpp"

namespace sluice {
namespace {

void describe_activity(const QueueRecord& queue, QueueView& out) {
  out.active = queue.active();
  out.reason = activity_reason(queue.inactive);
  if (queue.inactive == Inactive::kNo)
    out.message = "Can admit new workloads";
  else if (queue.inactive == Inactive::kTerminating)
    out.message = "Can't admit new workloads; clusterQueue " + inactivity(queue, false);
  else if (queue.inactive == Inactive::kMissing)
    out.message = "Can't admit new workloads: it " + inactivity(queue, false) + ".";
  else
    out.message = "Can't admit new workloads: " + inactivity(queue, false) + ".";
}

/// The use of those that no account has, by fr; members of one unit count as their maximum
/// (mechanisms 2).
class UseAlone {
 public:
  void add(const WorkloadRecord& w) {
    const bool admitted = w.state == WorkloadState::kAdmitted;
    for (const FrAmount& u : w.holding->usage) {
      if (w.promised_to == kNone) add(reserved_, w.unit, u);
      if (admitted) add(used_, w.unit, u);
    }
  }
  void add_to(std::map<FrId, HeldAmount>& sums) const {
    for (const auto& [key, amount] : reserved_) sums[key.first].reserved += amount;
    for (const auto& [key, amount] : used_) sums[key.first].used += amount;
  }

 private:
  using ByUnit = std::map<std::pair<FrId, std::uint32_t>, Amount>;  // unit kNone: those alone
  static void add(ByUnit& sums, std::uint32_t unit, const FrAmount& u) {
    Amount& sum = sums[{u.fr, unit}];
    sum = unit == kNone ? add_saturating(sum, u.amount) : std::max(sum, u.amount);
  }

  ByUnit reserved_, used_;
};

/// Counts by the workload that each one counts for, so that each is counted once.
struct Counted {
  std::set<WorkloadId> pending, parked, reserving, admitted;
  /// One that has quota does not wait, though another that counts for it may.
  void add_to(QueueCounts& counts) const {
    const auto waiting = [this](const std::set<WorkloadId>& of) {
      return static_cast<std::size_t>(std::count_if(
          of.begin(), of.end(), [this](WorkloadId id) { return !reserving.contains(id); }));
    };
    counts.pending += waiting(pending);
    counts.parked += waiting(parked);
    counts.reserving += reserving.size();
    counts.admitted += admitted.size();
  }
};

/// Of one LocalQueue, or of all together.
struct Sum {
  QueueCounts counts;                  // of accounts
  std::map<FrId, HeldAmount> amounts;  // of accounts
  Counted others;                      // of those that no account has
  UseAlone alone;

  void add(const HeldTotals& totals) {
    counts.reserving += totals.reserving;
    counts.admitted += totals.admitted;
    for (const auto& [fr, amount] : totals.amounts) {
      amounts[fr].reserved += amount.reserved;
      amounts[fr].used += amount.used;
    }
  }
  void finish() {
    others.add_to(counts);
    alone.add_to(amounts);
  }
};

/// The workloads of one queue, summed up.
class Summing {
 public:
  Summing(const Model& model, const QueueRecord& queue) : model_(model), queue_(queue) {
    for (const auto& [account, totals] : queue.held) {
      local(account).add(totals);
      all_.add(totals);
      ++steps_;
    }
    for (const auto& [account, waiting] : queue.pending.by_account()) {
      const std::size_t parked = queue.active() ? waiting.parked : waiting.pending;
      for (Sum* sum : {&all_, &local(account)}) {
        sum->counts.pending += waiting.pending;
        sum->counts.parked += parked;
      }
      ++steps_;
    }
    for (const WorkloadId id : queue.pending.unaccounted()) add_waiting(id);
    for (const WorkloadId id : queue.held_alone) add_holder(id);
    for (auto& [name, sum] : locals_) sum.finish();
    all_.finish();
  }

  const Sum& all() const { return all_; }
  const std::map<std::string_view, Sum>& locals() const { return locals_; }
  std::size_t steps() const { return steps_; }

 private:
  Sum& local(StringId name) { return locals_[model_.names.text(name)]; }

  void count(WorkloadId id, std::size_t QueueCounts::*own, std::set<WorkloadId> Counted::*others) {
    const WorkloadId whom = model_.counted_as(id);
    for (Sum* sum : {&all_, &local(model_.workloads[id].local_queue)}) {
      if (whom == id)
        ++(sum->counts.*own);
      else
        (sum->others.*others).insert(whom);
    }
  }
  void add_waiting(WorkloadId id) {
    ++steps_;
    count(id, &QueueCounts::pending, &Counted::pending);
    if (queue_.pending.parked(id) || !queue_.active())
      count(id, &QueueCounts::parked, &Counted::parked);
  }
  void add_holder(WorkloadId id) {
    ++steps_;
    const WorkloadRecord& w = model_.workloads[id];
    count(id, &QueueCounts::reserving, &Counted::reserving);
    if (w.state == WorkloadState::kAdmitted) count(id, &QueueCounts::admitted, &Counted::admitted);
    all_.alone.add(w);
    local(w.local_queue).alone.add(w);
  }

  const Model& model_;
  const QueueRecord& queue_;
  Sum all_;
  std::map<std::string_view, Sum> locals_;
  std::size_t steps_ = 0;
};

std::vector<FlavorUse> use_of(const Model& model, const QueueRecord* queue,
                              const std::map<FrId, HeldAmount>& amounts) {
  std::vector<FlavorUse> out;
  std::set<FrId> listed;
  const auto add = [&](FrId fr) {
    if (!listed.insert(fr).second) return;
    FlavorUse& use = out.emplace_back();
    use.flavor = model.frs.flavor_name(model.frs.flavor_of(fr));
    use.resource = model.frs.resource_name(model.frs.resource_of(fr));
    if (queue && !model.tree_stale && fr < model.tree.fr_count())
      use.nominal = model.tree.nominal(queue->id, fr);
    const auto held = amounts.find(fr);
    if (held == amounts.end()) return;
    use.reserved = saturate(held->second.reserved);
    use.used = saturate(held->second.used);
  };
  if (queue)
    for (const ResourceGroupRecord& group : queue->groups)
      for (const auto& flavor : group.frs)
        for (const FrId fr : flavor) add(fr);
  for (const auto& [fr, amount] : amounts) add(fr);
  return out;
}

}  // namespace

std::optional<QueueView> queue_view(const Model& model, std::string_view name, std::size_t* steps) {
  const QueueRecord* queue = model.find_queue(name);
  if (!queue) return std::nullopt;
  QueueView out;
  out.name = name;
  describe_activity(*queue, out);
  if (!model.tree_stale) {
    const Share share = share_of(model.tree, queue->id);
    out.weighted_share = shown_share(share);
    out.measured_share = measured_share(share);
  }
  const Summing sums(model, *queue);
  out.counts = sums.all().counts;
  out.use = use_of(model, queue, sums.all().amounts);
  for (const auto& [key, sum] : sums.locals())
    out.local_queues.push_back({std::string(key), sum.counts, use_of(model, nullptr, sum.amounts)});
  if (steps) *steps = sums.steps();
  return out;
}

std::vector<std::string> cluster_queues(const Model& model) {
  std::vector<std::string> out;
  for (const QueueRecord& queue : model.queues)
    if (queue.spec) out.push_back(queue.name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<PendingWorkload> pending_workloads(const Model& model, std::string_view cluster_queue,
                                               std::string_view local_queue, std::size_t offset,
                                               std::size_t limit) {
  std::vector<PendingWorkload> out;
  const QueueRecord* queue = model.find_queue(cluster_queue);
  if (!queue) return out;
  std::map<StringId, std::size_t> in_local;
  std::size_t position = 0;
  std::size_t skipped = 0;
  std::set<WorkloadId> seen;
  for (const WorkloadId member : queue->pending.members()) {
    const WorkloadId id = model.counted_as(member);
    if (id != member && !seen.insert(id).second) continue;
    const WorkloadRecord& w = model.workloads[id];
    if (w.state != WorkloadState::kPending) continue;
    const std::size_t local = in_local[w.local_queue]++;
    const std::size_t own = position++;
    if (!local_queue.empty() && local_queue != model.local_queue_name(w)) continue;
    if (skipped++ < offset) continue;
    if (out.size() == limit) break;
    out.push_back({id, w.object->queue_name, w.priority, own, local});
  }
  return out;
}

std::string_view cluster_queue_of(const Model& model, const api::Workload& workload) {
  const LocalQueueRecord* local = model.local_queue_of(workload);
  return local ? std::string_view(local->cluster_queue) : std::string_view();
}

std::string cluster_queue_of(const Model& model, std::string_view local_queue) {
  const LocalQueueRecord* local = model.find_local_queue(local_queue);
  return local ? local->cluster_queue : std::string();
}

std::optional<hooks::QueueId> queue_number(const Model& model, std::string_view cluster_queue) {
  const QueueRecord* queue = model.find_queue(cluster_queue);
  return queue ? std::optional(queue->id) : std::nullopt;
}

std::vector<WorkloadId> waiting_in(const Model& model, const std::set<std::string>& local_queues) {
  std::vector<WorkloadId> out;
  if (local_queues.empty()) return out;
  for (const WorkloadId id : model.open) {
    const WorkloadRecord& w = model.workloads[id];
    if (w.holds_quota() || w.state != WorkloadState::kPending) continue;
    if (local_queues.contains(model.local_queue_name(w))) out.push_back(id);
  }
  return out;
}

std::vector<WorkloadId> holders_not_ready(const Model& model) {
  std::vector<WorkloadId> out;
  for (const QueueRecord& queue : model.queues)
    for (const WorkloadId id : queue.holders)
      if (!model.workloads[id].is_true(ConditionRecord::Type::kPodsReady)) out.push_back(id);
  return out;
}

}  // namespace sluice
