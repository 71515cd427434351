#include "core/model/totals.hpp"

#include "core/base/check.hpp"
#include "core/model/model.hpp"

namespace sluice {
namespace {

void add(HeldTotals& totals, const Holding& holding, int sign) {
  const Holding::Summed& as = holding.summed;
  const auto step = [sign](std::size_t& count) {
    SLUICE_CHECK(sign > 0 || count > 0, "one more holder leaves than came");
    count += sign > 0 ? 1U : static_cast<std::size_t>(-1);
  };
  step(totals.reserving);
  if (as.admitted) step(totals.admitted);
  for (const FrAmount& u : holding.usage) {
    HeldAmount& sum = totals.amounts[u.fr];
    if (as.reserved) sum.reserved += sign * Wide{u.amount};
    if (as.admitted) sum.used += sign * Wide{u.amount};
    step(sum.holders);
    if (sum.holders == 0) totals.amounts.erase(u.fr);
  }
}

Holding::Summed summed_as(const WorkloadRecord& w) {
  Holding::Summed out;
  out.account = account_of(w);
  out.where = out.account == kNone ? Holding::Summed::kAlone : Holding::Summed::kAccount;
  out.reserved = w.promised_to == kNone;
  out.admitted = w.state == WorkloadState::kAdmitted;
  return out;
}

}  // namespace

StringId account_of(const WorkloadRecord& w) {
  return w.unit == kNone && !w.represents() ? w.local_queue : kNone;
}

void uncount_holding(Model& model, WorkloadId id) {
  Holding& holding = *model.workloads[id].holding;
  QueueRecord& queue = model.queues[holding.queue];
  if (holding.summed.where == Holding::Summed::kAlone) {
    const std::size_t listed = queue.held_alone.erase(id);
    SLUICE_CHECK(listed == 1, model.key(id), " counts alone in ", queue.name, " and is not listed");
  } else if (holding.summed.where == Holding::Summed::kAccount) {
    const auto it = queue.held.find(holding.summed.account);
    SLUICE_CHECK(it != queue.held.end(), model.key(id), " is not counted in ", queue.name);
    add(it->second, holding, -1);
    if (it->second.reserving == 0) queue.held.erase(it);
  }
  holding.summed = {};
}

void count_holding(Model& model, WorkloadId id) {
  const WorkloadRecord& w = model.workloads[id];
  if (!w.holds_quota()) return;
  uncount_holding(model, id);
  QueueRecord& queue = model.queues[w.holding->queue];
  w.holding->summed = summed_as(w);
  if (w.holding->summed.where == Holding::Summed::kAlone)
    queue.held_alone.insert(id);
  else
    add(queue.held[w.holding->summed.account], *w.holding, 1);
}

void count_workload(Model& model, WorkloadId id) {
  WorkloadRecord& w = model.workloads[id];
  using Tallied = WorkloadRecord::Tallied;
  const bool finished = w.exists() && w.state == WorkloadState::kFinished;
  const Tallied now = !w.exists()      ? Tallied::kNot
                      : !finished      ? Tallied::kOpen
                      : w.represents() ? Tallied::kFinishedAlone
                                       : Tallied::kFinished;
  if (w.tallied == now && (now != Tallied::kFinished || w.tallied_in == w.local_queue)) return;
  if (w.tallied == Tallied::kOpen || w.tallied == Tallied::kFinishedAlone) {
    auto& list = w.tallied == Tallied::kOpen ? model.open : model.finished_alone;
    const std::size_t listed = list.erase(id);
    SLUICE_CHECK(listed == 1, w.key, " is one of ", list.size(), " and not listed among them");
  }
  if (w.tallied == Tallied::kFinished) {
    const auto it = model.finished.find(w.tallied_in);
    SLUICE_CHECK(it != model.finished.end(), w.key, " is not counted among the finished");
    if (--it->second == 0) model.finished.erase(it);
  }
  w.tallied = now;
  w.tallied_in = w.local_queue;
  if (now == Tallied::kOpen) model.open.insert(model.open.end(), id);
  if (now == Tallied::kFinishedAlone) model.finished_alone.insert(id);
  if (now == Tallied::kFinished) ++model.finished[w.local_queue];
}

void verify_totals(const Model& model) {
  std::map<StringId, std::size_t> finished;
  std::size_t open = 0;
  for (WorkloadId id = model.workloads.first_id(); id < model.workloads.end_id(); ++id) {
    const WorkloadRecord& w = model.workloads[id];
    if (!w.exists()) continue;
    if (w.state != WorkloadState::kFinished) {
      ++open;
      SLUICE_CHECK(model.open.contains(id), w.key, " is open and not listed");
    } else if (!w.represents()) {
      ++finished[w.local_queue];
    } else {
      SLUICE_CHECK(model.finished_alone.contains(id), w.key, " has finished and is not listed");
    }
  }
  SLUICE_CHECK(open == model.open.size(), open, " are open, ", model.open.size(), " are listed");
  SLUICE_CHECK(finished == model.finished, "the counts of finished workloads differ");
  for (const QueueRecord& queue : model.queues) {
    std::map<StringId, HeldTotals> held;
    for (const WorkloadId id : queue.holders) {
      const WorkloadRecord& w = model.workloads[id];
      SLUICE_CHECK(w.holding->summed == summed_as(w), w.key, " counts as something else by now");
      if (w.holding->summed.where == Holding::Summed::kAccount)
        add(held[w.holding->summed.account], *w.holding, 1);
      else
        SLUICE_CHECK(queue.held_alone.contains(id), w.key, " holds and is not listed");
    }
    SLUICE_CHECK(held.size() == queue.held.size(), "LocalQueues of ", queue.name, " differ");
    for (const auto& [account, totals] : held) {
      const HeldTotals& kept = queue.held.at(account);
      SLUICE_CHECK(kept.reserving == totals.reserving && kept.admitted == totals.admitted,
                   "holders of ", queue.name, ": kept ", kept.reserving, ", counted ",
                   totals.reserving);
      SLUICE_CHECK(kept == totals, "what holders of ", queue.name, " use differs");
    }
  }
}

}  // namespace sluice
