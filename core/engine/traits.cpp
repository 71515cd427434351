// How the traits of a workload are taken in, and what a change of them means.
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/engine/arrivals.hpp"
#include "core/engine/workload_views.hpp"

namespace sluice {

/// What counts of an answer.
hooks::Traits Arrivals::as_known(const WorkloadRecord& w, hooks::Traits said) {
  if (!said.unknown_because.empty()) {
    // The known traits stay, so that a fault takes nothing away from any workload.
    std::string why = std::move(said.unknown_because);
    if (w.extras) said = w.extras->traits;
    said.unknown_because.clear();
    said.conflict = std::move(why);
  } else if (said.has_group) {
    // Groups are named per owner, so that no workload of another owner can join.
    said.group.id = w.object->meta.ns + "/" + std::string(w.object->meta.controller_uid()) + "/" +
                    said.group.id;
  }
  return said;
}

/// REQUIRES: it is not linked.
void Arrivals::take_traits(WorkloadId id, hooks::Traits said) {
  WorkloadRecord& w = model_.workloads[id];
  said = as_known(w, std::move(said));
  if (said == hooks::Traits() && !w.extras && !relations_.named(w.key)) return;
  w.more().traits = std::move(said);
  relations_.link(id);
}

void Arrivals::traits_of_moved(WorkloadId id, hooks::Traits said) {
  WorkloadRecord& w = model_.workloads[id];
  SLUICE_CHECK(w.state == WorkloadState::kPending && !w.holds_quota(), w.key,
               " moves to another queue in state ", static_cast<int>(w.state));
  if (!queues_are_followed(w)) return traits_changed(id, std::move(said));
  renew_traits(id, std::move(said));
  w.shape = shapes_.of_workload(w);
}

/// The new traits of a known workload, with what follows when it begins or ceases to take part.
void Arrivals::renew_traits(WorkloadId id, hooks::Traits said) {
  WorkloadRecord& w = model_.workloads[id];
  const bool was_aside = w.stands_aside();
  const WorkloadId speaker = was_aside ? model_.speaker_for(w) : kNone;
  representation_.touch(id);
  relations_.unlink(id);
  take_traits(id, std::move(said));
  if (was_aside && !w.stands_aside() && !w.holds_quota()) lifecycle_.take_part(id, speaker);
  lifecycle_.review_eviction(id);
  lifecycle_.complete_replacement(id);
  count_holding(model_, id);
  count_workload(model_, id);
  representation_.touch(id);
}

}  // namespace sluice
