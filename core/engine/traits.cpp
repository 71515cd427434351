// What is said of a workload.
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/engine/arrivals.hpp"
#include "core/engine/workload_views.hpp"

namespace sluice {

/// REQUIRES: it is not linked.
void Arrivals::take_traits(WorkloadId id, hooks::Traits said) {
  WorkloadRecord& w = model_.workloads[id];
  if (!said.unknown_because.empty()) {
    // What was known stays, so that nobody loses anything because of a fault.
    std::string why = std::move(said.unknown_because);
    if (w.extras) said = w.extras->traits;
    said.unknown_because.clear();
    said.conflict = std::move(why);
  } else if (said.has_group) {
    // A group's name is its owner's own: a stranger cannot join.
    said.group.id = w.object->meta.ns + "/" + std::string(w.object->meta.controller_uid()) + "/" +
                    said.group.id;
  }
  if (said == hooks::Traits() && !w.extras && !relations_.named(w.key)) return;
  w.more().traits = std::move(said);
  relations_.link(id);
}

void Arrivals::traits_of_moved(WorkloadId id, hooks::Traits said) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.state == WorkloadState::kPending && !w.holds_quota(), w.key,
               " moves to another queue in state ", static_cast<int>(w.state));
  const bool was_aside = w.stands_aside();
  relations_.unlink(id);
  take_traits(id, std::move(said));
  follow_part(id, was_aside);
  w.shape = shape_of(w);
}

/// What it means that a workload takes part from now on, or no more. Standing aside, its status is
/// what its plugin writes, beginning with what was true; taking part again, it has what that says.
void Arrivals::follow_part(WorkloadId id, bool was_aside) {
  WorkloadRecord& w = model_.workloads[id];
  const bool aside = w.stands_aside();
  if (aside && !was_aside) {
    auto object = std::make_shared<api::Workload>(*w.object);
    object->status = own_status(model_, w, id);
    std::erase_if(object->status.conditions, [](const api::Condition& c) {  // why it waited before
      return c.type == "QuotaReserved" && c.status != "True";
    });
    w.object = std::move(object);
  } else if (!aside && was_aside && !w.holds_quota() && w.state != WorkloadState::kFinished) {
    w.conditions.clear();
    w.state = WorkloadState::kPending;
    lifecycle_.load_status(id);
    if (!w.object->active && w.state == WorkloadState::kPending) w.state = WorkloadState::kInactive;
  }
  if (aside && !w.holds_quota()) w.state = reported_state(w);
  count_holding(model_, id);
  count_workload(model_, id);
}

}  // namespace sluice
