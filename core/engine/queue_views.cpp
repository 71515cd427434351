#include "core/engine/queue_views.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/engine/workload_views.hpp"
#include "core/model/model.hpp"
#include "core/quota/fair_share.hpp"

namespace sluice {
namespace {

void describe_activity(const QueueRecord& queue, QueueView& out) {
  out.active = queue.active();
  const std::string prefix = "Can't admit new workloads: ";
  switch (queue.inactive) {
    case Inactive::kNo:
      out.reason = "Ready";
      out.message = "Can admit new workloads";
      return;
    case Inactive::kStopped:
      out.reason = "Stopped";
      out.message = prefix + "is stopped";
      return;
    case Inactive::kFlavorNotFound:
      out.reason = "FlavorNotFound";
      out.message = prefix + "references missing ResourceFlavor(s): " + queue.inactive_detail;
      return;
    case Inactive::kCohortCycle:
      out.reason = "Unknown";
      out.message = prefix + "its cohort is part of a cycle";
      return;
    case Inactive::kCheckNotFound:
      out.reason = "AdmissionCheckNotFound";
      out.message = prefix + "references missing AdmissionCheck(s): " + queue.inactive_detail;
      return;
    case Inactive::kCheckInactive:
      out.reason = "AdmissionCheckInactive";
      out.message = prefix + "references inactive AdmissionCheck(s): " + queue.inactive_detail;
      return;
    case Inactive::kMissing:
      out.reason = "Unknown";
      out.message = prefix + "it doesn't exist";
      return;
  }
}

/// Usage by fr; members of one unit count as their maximum (mechanisms 2).
class UseSum {
 public:
  void add(const WorkloadRecord& w) {
    const bool admitted = w.state == WorkloadState::kAdmitted;
    for (const FrAmount& u : w.holding->usage) {
      if (w.promised_to == kNone) add(reserved_, w.unit, u);
      if (admitted) add(used_, w.unit, u);
    }
  }
  Amount reserved(FrId fr) const { return total(reserved_, fr); }
  Amount used(FrId fr) const { return total(used_, fr); }
  void frs(std::set<FrId>& out) const {
    for (const auto& [key, amount] : reserved_) out.insert(key.first);
  }

 private:
  using ByUnit = std::map<std::pair<FrId, std::uint32_t>, Amount>;  // unit kNone: those alone
  static void add(ByUnit& sums, std::uint32_t unit, const FrAmount& u) {
    Amount& sum = sums[{u.fr, unit}];
    sum = unit == kNone ? add_saturating(sum, u.amount) : std::max(sum, u.amount);
  }
  static Amount total(const ByUnit& sums, FrId fr) {
    Amount sum = 0;
    for (auto it = sums.lower_bound({fr, 0}); it != sums.end() && it->first.first == fr; ++it)
      sum = add_saturating(sum, it->second);
    return sum;
  }

  ByUnit reserved_, used_;
};

/// Counts by whom a workload counts for, so that each is counted once.
struct Counted {
  std::set<WorkloadId> pending, parked, reserving, admitted;
  /// One that has quota does not wait, though another that counts for it may.
  QueueCounts counts() const {
    const auto waiting = [this](const std::set<WorkloadId>& of) {
      return static_cast<std::size_t>(std::count_if(
          of.begin(), of.end(), [this](WorkloadId id) { return !reserving.contains(id); }));
    };
    return {waiting(pending), waiting(parked), reserving.size(), admitted.size()};
  }
};

struct LocalSum {
  QueueCounts plain;  // of workloads that count for themselves
  Counted others;     // of those that count for another
  UseSum use;

  QueueCounts counts() const {
    const QueueCounts more = others.counts();
    return {plain.pending + more.pending, plain.parked + more.parked,
            plain.reserving + more.reserving, plain.admitted + more.admitted};
  }
};

std::vector<FlavorUse> use_of(const Model& model, const QueueRecord* queue,
                              const std::function<Amount(FrId)>& reserved,
                              const std::function<Amount(FrId)>& used, const std::set<FrId>& held) {
  std::vector<FlavorUse> out;
  std::set<FrId> listed;
  const auto add = [&](FrId fr) {
    if (!listed.insert(fr).second) return;
    FlavorUse& use = out.emplace_back();
    use.flavor = model.frs.flavor_name(model.frs.flavor_of(fr));
    use.resource = model.frs.resource_name(model.frs.resource_of(fr));
    if (queue && !model.tree_stale && fr < model.tree.fr_count())
      use.nominal = model.tree.nominal(queue->id, fr);
    use.reserved = reserved(fr);
    use.used = used(fr);
  };
  if (queue)
    for (const ResourceGroupRecord& group : queue->groups)
      for (const auto& flavor : group.frs)
        for (const FrId fr : flavor) add(fr);
  for (const FrId fr : held) add(fr);
  return out;
}

}  // namespace

std::optional<QueueView> queue_view(const Model& model, std::string_view name) {
  const QueueRecord* found = model.find_queue(name);
  if (!found) return std::nullopt;
  const QueueRecord& queue = *found;
  QueueView out;
  out.name = name;
  describe_activity(queue, out);
  if (!model.tree_stale) out.weighted_share = shown_share(share_of(model.tree, queue.id));

  std::map<std::pair<std::string_view, std::string_view>, LocalSum> locals;
  LocalSum all;
  const auto count = [&](WorkloadId id, const WorkloadRecord& w, std::size_t QueueCounts::*plain,
                         std::set<WorkloadId> Counted::*others) {
    const auto whom = counted_as(model, id);
    if (!whom) return;
    LocalSum& local = locals[{w.object->meta.ns, w.object->queue_name}];
    for (LocalSum* sum : {&all, &local}) {
      if (*whom == id)
        ++(sum->plain.*plain);
      else
        (sum->others.*others).insert(*whom);
    }
  };
  queue.pending.each([&](WorkloadId id, bool parked) {
    const WorkloadRecord& w = model.workloads[id];
    count(id, w, &QueueCounts::pending, &Counted::pending);
    if (parked || !queue.active()) count(id, w, &QueueCounts::parked, &Counted::parked);
  });
  for (const WorkloadId id : queue.holders) {
    const WorkloadRecord& w = model.workloads[id];
    count(id, w, &QueueCounts::reserving, &Counted::reserving);
    if (w.state == WorkloadState::kAdmitted)
      count(id, w, &QueueCounts::admitted, &Counted::admitted);
    all.use.add(w);
    locals[{w.object->meta.ns, w.object->queue_name}].use.add(w);
  }
  const auto render = [&](const LocalSum& sum, const QueueRecord* of) {
    std::set<FrId> held;
    sum.use.frs(held);
    return use_of(
        model, of, [&](FrId fr) { return sum.use.reserved(fr); },
        [&](FrId fr) { return sum.use.used(fr); }, held);
  };
  out.counts = all.counts();
  out.use = render(all, &queue);
  for (const auto& [key, sum] : locals)
    out.local_queues.push_back({std::string(key.first) + "/" + std::string(key.second),
                                sum.counts(), render(sum, nullptr)});
  return out;
}

std::size_t queue_size(const Model& model, std::string_view name) {
  const QueueRecord* queue = model.find_queue(name);
  return queue ? queue->pending.size() + queue->holders.size() : 0;
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
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> in_local;
  std::size_t position = 0;
  std::size_t skipped = 0;
  std::set<WorkloadId> seen;
  for (const WorkloadId member : queue->pending.members()) {
    const auto whom = counted_as(model, member);
    if (!whom || (*whom != member && !seen.insert(*whom).second)) continue;
    const WorkloadId id = *whom;
    const WorkloadRecord& w = model.workloads[id];
    if (w.state != WorkloadState::kPending) continue;
    const std::size_t local = in_local[{w.object->meta.ns, w.object->queue_name}]++;
    const std::size_t own = position++;
    if (!local_queue.empty() && local_queue != w.object->meta.ns + "/" + w.object->queue_name)
      continue;
    if (skipped++ < offset) continue;
    if (out.size() == limit) break;
    out.push_back({id, w.key, w.object->queue_name, w.priority, own, local});
  }
  return out;
}

std::string cluster_queue_of(const Model& model, std::string_view local_queue) {
  const auto it = model.local_queues.find(std::string(local_queue));
  return it == model.local_queues.end() ? std::string() : it->second.cluster_queue;
}

}  // namespace sluice
