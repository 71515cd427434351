#include "core/engine/holdings.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace sluice {

/// What the pods that count ask for, summed by fr.
void Holdings::sum_up(const WorkloadRecord& w, Holding& holding) {
  SLUICE_CHECK(holding.pod_sets.size() == w.pod_sets.size(), w.key, " has ", w.pod_sets.size(),
               " pod sets, its holding ", holding.pod_sets.size());
  holding.usage.clear();
  for (std::size_t i = 0; i < holding.pod_sets.size(); ++i) {
    const AssignedPodSet& assigned = holding.pod_sets[i];
    const std::int32_t counted = w.pod_sets[i].remaining_of(assigned.count);
    for (const auto& [resource, flavor] : assigned.flavors) {
      const FrId fr = model_.frs.intern(flavor, resource);
      const Amount amount = model_.amount_of(w, i, resource, counted);
      const auto same = std::find_if(holding.usage.begin(), holding.usage.end(),
                                     [fr](const FrAmount& u) { return u.fr == fr; });
      if (same == holding.usage.end())
        holding.usage.push_back({fr, amount});
      else
        same->amount = add_saturating(same->amount, amount);
    }
  }
}

void Holdings::hold(WorkloadId id, std::unique_ptr<Holding> holding) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(!w.holds_quota() && !w.counted, w.key, " holds quota already");
  SLUICE_CHECK(holding->queue < model_.queues.size(), w.key, " holds quota of queue ",
               holding->queue, " of ", model_.queues.size());
  sum_up(w, *holding);
  QueueRecord& queue = model_.queues[holding->queue];
  holding->index = queue.holders.size();
  queue.holders.push_back(id);
  queue.usage_changed();
  holding->priority = w.priority;
  ++queue.holder_priorities[w.priority];
  w.queue = holding->queue;
  w.holding = std::move(holding);
  if (!w.is_true(ConditionRecord::Type::kPodsReady)) model_.pods_ready = false;
  note_new_frs();
  model_.settle(id);
  count_holding(model_, id);
}

std::unique_ptr<Holding> Holdings::let_go(WorkloadId id) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.holds_quota() && !w.gone, w.key, " holds no quota to let go");
  note_new_frs();
  if (!model_.tree_stale && w.counted) model_.ledger.release(id, w);
  w.counted = false;
  uncount_holding(model_, id);
  drop_plan(id);
  if (w.promised_to != kNone) {
    WorkloadRecord& planner = model_.workloads[w.promised_to];
    const std::size_t taken = std::erase(planner.holding->planned, id);
    SLUICE_CHECK(taken == 1, w.key, " stands ", taken, " times in the plan of ", planner.key);
    if (planner.holding->planned.empty()) model_.held.erase(w.promised_to);
    w.promised_to = kNone;
  }
  QueueRecord& queue = model_.queues[w.holding->queue];
  queue.usage_changed();
  SLUICE_CHECK(w.holding->index < queue.holders.size() && queue.holders[w.holding->index] == id,
               w.key, " is not holder ", w.holding->index, " of ", queue.name);
  const WorkloadId last = queue.holders.back();
  queue.holders[w.holding->index] = last;
  model_.workloads[last].holding->index = w.holding->index;
  queue.holders.pop_back();
  model_.pods_ready.reset();
  const auto priority = queue.holder_priorities.find(w.holding->priority);
  SLUICE_CHECK(priority != queue.holder_priorities.end(), w.key, " is not counted with priority ",
               w.holding->priority, " in ", queue.name);
  if (--priority->second == 0) queue.holder_priorities.erase(priority);
  structure_.bump_generation(queue.id);
  // Ways to run one workload wait for each other, in whatever tree they are.
  if (const hooks::Traits* traits = w.traits(); traits && traits->group.represents)
    for (const WorkloadId sibling : model_.siblings[traits->group.id])
      if (const QueueId at = model_.workloads[sibling].queue; at != kNone && sibling != id)
        structure_.wake_tree_of(at);
  return std::move(w.holding);
}

void Holdings::recount(WorkloadId id) {
  SLUICE_CHECK(model_.workloads[id].holds_quota(), model_.key(id),
               " is recounted, holding nothing");
  const std::vector<WorkloadId> planned = model_.workloads[id].holding->planned;
  const WorkloadId planner = model_.workloads[id].promised_to;
  hold(id, let_go(id));
  plan(id, planned);
  if (planner != kNone) plan(planner, {id});
}

void Holdings::plan(WorkloadId id, const std::vector<WorkloadId>& victims) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.holds_quota(), w.key, " plans to evict others and holds no quota");
  for (const WorkloadId victim : victims) {
    WorkloadRecord& v = model_.workloads[victim];
    SLUICE_CHECK(v.exists(), "workload ", victim, " is planned by ", w.key, " and does not exist");
    if (!v.holds_quota() || v.promised_to != kNone || victim == id) continue;
    v.promised_to = id;
    w.holding->planned.push_back(victim);
    model_.settle(victim);
    model_.queues[v.holding->queue].usage_changed();
    count_holding(model_, victim);
  }
  if (!w.holding->planned.empty()) model_.held.insert(id);
}

void Holdings::drop_plan(WorkloadId id) {
  model_.held.erase(id);
  std::vector<WorkloadId> planned;
  std::swap(planned, model_.workloads[id].holding->planned);
  for (const WorkloadId victim : planned) {
    WorkloadRecord& v = model_.workloads[victim];
    SLUICE_CHECK(v.promised_to == id, v.key, " is in the plan of workload ", id,
                 " and promised to ", v.promised_to);
    v.promised_to = kNone;
    model_.settle(victim);
    model_.queues[v.holding->queue].usage_changed();
    count_holding(model_, victim);
  }
}

void Holdings::earmark(WorkloadId id, Earmark earmark) {
  drop_earmark(id);
  SLUICE_CHECK(!model_.workloads[id].holds_quota() && !model_.tree_stale, model_.key(id),
               " has an earmark in queue ", earmark.queue, " and holds quota");
  model_.ledger.add(earmark.queue, earmark.usage);
  model_.queues[earmark.queue].usage_changed();
  model_.earmarks.emplace(id, std::move(earmark));
}

void Holdings::drop_earmark(WorkloadId id) {
  const auto it = model_.earmarks.find(id);
  if (it == model_.earmarks.end()) return;
  if (!model_.tree_stale) model_.ledger.subtract(it->second.queue, it->second.usage);
  model_.queues[it->second.queue].usage_changed();
  model_.earmarks.erase(it);
}

bool Holdings::all_pods_ready() {
  if (model_.pods_ready) return *model_.pods_ready;
  const auto is_ready = [this](WorkloadId id) {
    return model_.workloads[id].is_true(ConditionRecord::Type::kPodsReady);
  };
  model_.pods_ready =
      std::all_of(model_.queues.begin(), model_.queues.end(), [&](const QueueRecord& queue) {
        return std::all_of(queue.holders.begin(), queue.holders.end(), is_ready);
      });
  return *model_.pods_ready;
}

void Holdings::verify() const {
  std::size_t listed = 0, holding = 0, plans = 0;
  for (const QueueRecord& queue : model_.queues) {
    listed += queue.holders.size();
    std::map<std::int32_t, std::uint32_t> priorities;
    for (std::size_t i = 0; i < queue.holders.size(); ++i) {
      const WorkloadRecord& w = model_.workloads[queue.holders[i]];
      SLUICE_CHECK(w.holds_quota() && w.holding->queue == queue.id && w.holding->index == i, w.key,
                   " is holder ", i, " of ", queue.name, " and says otherwise");
      ++priorities[w.holding->priority];
    }
    SLUICE_CHECK(priorities == queue.holder_priorities, "priorities in ", queue.name, " differ");
  }
  for (WorkloadId id = model_.workloads.first_id(); id < model_.workloads.end_id(); ++id) {
    const WorkloadRecord& w = model_.workloads[id];
    if (!w.holds_quota()) continue;
    ++holding;
    plans += w.holding->planned.empty() ? 0 : 1;
    SLUICE_CHECK(w.holding->planned.empty() || model_.held.contains(id), w.key, " plans unheard");
    for (const WorkloadId victim : w.holding->planned)
      SLUICE_CHECK(model_.workloads[victim].promised_to == id, model_.key(victim),
                   " is planned by ", w.key, " and not promised to it");
  }
  verify_totals(model_);
  SLUICE_CHECK(listed == holding, listed, " holders are listed, ", holding, " workloads hold");
  SLUICE_CHECK(plans == model_.held.size(), plans, " plan, ", model_.held.size(), " are held");
}

}  // namespace sluice
