#include "core/engine/memory.hpp"

#include <algorithm>
#include <memory>

#include "core/engine/parked_reasons.hpp"
#include "core/model/model.hpp"
#include "core/model/queue_order.hpp"
#include "core/reasons/reasons.hpp"

namespace sluice {
namespace {

bool exhausted(const ScanPosition& scan) {
  return std::all_of(scan.positions.begin(), scan.positions.end(),
                     [](std::int16_t position) { return position < 0; });
}

/// Why the class of the workload is parked, in words alone: flavors have other numbers elsewhere.
std::shared_ptr<const PendingReason> in_words(const Model& model, const QueueRecord& queue,
                                              WorkloadId id) {
  auto out = std::make_shared<PendingReason>();
  const std::shared_ptr<const PendingReason> why = class_reason(model, queue, id);
  if (!why) return out;
  out->reason = why->reason;
  out->by = why->by;
  out->text = why->message(model.frs);
  return out;
}

void remember_walk(const Model& model, const QueueRecord& queue, WorkloadId id, EngineMemory& out) {
  const WorkloadRecord& w = model.workloads[id];
  const ScanPosition* scan = w.scan.get();
  if (!scan || exhausted(*scan) || scan->shape != w.shape || scan->priority != w.priority) return;
  out.scans.push_back({w.key, scan->positions, model.cycle - scan->cycle,
                       queue.generation - scan->queue_generation,
                       model.tree_generation(queue.id) - scan->tree_generation});
}

void remember_queue(const Model& model, const QueueRecord& queue, EngineMemory& out) {
  const auto holder = queue.pending.place();
  if (holder && model.workloads[*holder].exists())
    out.places.emplace_back(queue.name, model.key(*holder));
  queue.pending.each_parked_class([&](WorkloadId id) {
    out.parked.push_back({model.key(id), in_words(model, queue, id), false});
  });
  for (const WorkloadId id : queue.pending.parked_alone()) {
    out.parked.push_back({model.key(id), nullptr, true});
    remember_walk(model, queue, id, out);
  }
  queue.pending.each_open([&](WorkloadId id) { remember_walk(model, queue, id, out); });
}

}  // namespace

EngineMemory memory_of(const Model& model) {
  EngineMemory out;
  if (model.tree_stale) return out;
  for (const QueueRecord& queue : model.queues)
    if (queue.pending.size() > 0) remember_queue(model, queue, out);
  model.history.each_issue([&](WorkloadId id, const std::vector<Time>& at) {
    if (model.workloads[id].exists()) out.issued.push_back({model.key(id), at});
  });
  model.history.each_meeting([&](WorkloadId preemptor, WorkloadId victim, int count, Time last) {
    if (model.workloads[preemptor].exists() && model.workloads[victim].exists())
      out.meetings.push_back({model.key(preemptor), model.key(victim), count, last});
  });
  return out;
}

void recall(Model& model, const EngineMemory& memory) {
  for (const EngineMemory::Parked& each : memory.parked) {
    const auto id = model.find(each.workload);
    if (!id || model.workloads[*id].queue == kNone) continue;
    PendingQueue& pending = model.queues[model.workloads[*id].queue].pending;
    if (!pending.contains(*id) || pending.parked(*id)) continue;
    if (each.alone)
      pending.park_alone(*id);
    else
      pending.park_with_equals(*id, each.why);
  }
  for (const auto& [queue, workload] : memory.places) {
    const auto id = model.find(workload);
    const QueueId place = model.known_queue(queue);
    if (!id || place == kNone) continue;
    model.queues[place].pending.give_place(*id, order_key(model, *id).anchor);
  }
  for (const EngineMemory::Scan& each : memory.scans) {
    const auto id = model.find(each.workload);
    if (!id || model.workloads[*id].queue == kNone) continue;
    WorkloadRecord& w = model.workloads[*id];
    const QueueRecord& queue = model.queues[w.queue];
    w.scan = std::make_unique<ScanPosition>(ScanPosition{
        each.positions, model.cycle - each.cycles, queue.generation - each.queue_generations,
        model.tree_generation(queue.id) - each.tree_generations, w.shape, w.priority});
  }
  for (const EngineMemory::Issued& each : memory.issued)
    if (const auto id = model.find(each.preemptor)) model.history.recall_issues(*id, each.at);
  for (const EngineMemory::Meeting& each : memory.meetings) {
    const auto preemptor = model.find(each.preemptor);
    const auto victim = model.find(each.victim);
    if (preemptor && victim)
      model.history.recall_meeting(*preemptor, *victim, each.count, each.last);
  }
}

}  // namespace sluice
