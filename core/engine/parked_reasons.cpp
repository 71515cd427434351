#include "core/engine/parked_reasons.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace sluice {
namespace {

/// The cycle in which the classes of the queue would have been looked at last, had that been
/// computed; 0: it was.
std::uint64_t quiet_cycle(const Model& model, const QueueRecord& queue) {
  if (queue.id >= model.tree.node_count()) return 0;
  return model.quiet_cycles[model.tree.root(queue.id)];
}

std::shared_ptr<const PendingReason> as_of_wake(const Model& model, const QueueRecord& queue,
                                                const PendingReason& why) {
  auto out = std::make_shared<PendingReason>(why);
  out->cycle = quiet_cycle(model, queue);
  for (FlavorReason& reason : out->flavors) {
    if (reason.kind != FlavorReason::Kind::kUnused) continue;
    const FrId fr = model.frs.find(reason.flavor, reason.resource);
    const Amount available = std::max<Amount>(0, model.tree.available_as_marked(queue.id, fr));
    SLUICE_CHECK(reason.b > available, queue.name, " waits for ", reason.b, " of fr ", fr,
                 " and could have ", available);
    reason.a = reason.b - available;
  }
  return out;
}

}  // namespace

std::shared_ptr<const PendingReason> class_reason(const Model& model, const QueueRecord& queue,
                                                  WorkloadId id) {
  std::shared_ptr<const PendingReason> why = queue.pending.class_reason(id);
  if (!why || why->cycle >= quiet_cycle(model, queue) || !queue.pending.parked(id)) return why;
  return as_of_wake(model, queue, *why);
}

void tell_as_of_wake(Model& model, QueueRecord& queue) {
  const std::uint64_t quiet = quiet_cycle(model, queue);
  if (queue.told_as_of >= quiet) return;
  queue.told_as_of = quiet;
  queue.pending.each_parked(
      [&](WorkloadId, const Grounds&, std::shared_ptr<const PendingReason>& why) {
        if (why && why->cycle < quiet) why = as_of_wake(model, queue, *why);
        return true;
      });
}

}  // namespace sluice
