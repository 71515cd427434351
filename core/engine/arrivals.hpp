// Arrivals: takes in workloads that come, change and go, with their traits, and keeps their
// records.
//
// Makes the dense record of an object (pod sets, shape, traits) and hands it to the parts that keep
// it in order. Invariant: a record describes its object, and its traits are tied to others, from
// apply() to remove(). The engine's thread only.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/engine/lifecycle.hpp"
#include "core/engine/shapes.hpp"

namespace sluice {

class Arrivals {
 public:
  Arrivals(const Parts& parts, Lifecycle& lifecycle)
      : model_(parts.model),
        turn_(parts.turn),
        structure_(parts.structure),
        relations_(parts.relations),
        holdings_(parts.holdings),
        waiting_(parts.waiting),
        representation_(parts.representation),
        lifecycle_(lifecycle),
        shapes_(parts.model, parts.config.resources) {}

  WorkloadId apply(std::shared_ptr<api::Workload> object, hooks::Traits said);
  void remove(WorkloadId id);
  /// As if the object had come again, with its present traits.
  void traits_changed(WorkloadId id, hooks::Traits said);
  /// The traits of a waiting workload whose LocalQueue was written. When it may belong elsewhere
  /// now, follow_local_queues() queues it.
  void traits_of_moved(WorkloadId id, hooks::Traits said);
  /// LocalQueues lead elsewhere now: those that wait there are queued anew.
  void follow_local_queues(const std::set<std::string>& local_queues);
  /// Forgets names and shapes that no workload has any more, when it is time to look: O(1) for each
  /// that came, amortised. Between steps only: nobody has a number of one in hand.
  void tidy();

 private:
  bool queues_are_followed(const WorkloadRecord& w) const;
  /// Of a workload before it changed.
  struct Before {
    bool active = true;
    std::int32_t priority = 0;
    std::uint32_t shape = 0;
    std::vector<PodSetRecord> pod_sets;
  };

  void change(WorkloadId id, std::shared_ptr<const api::Workload> object, hooks::Traits said);
  void tell_why_inactive(WorkloadId id);
  void deactivate(WorkloadId id);
  void change_holder(WorkloadId id, const Before& before);
  void describe_pod_sets(WorkloadRecord& w);
  static hooks::Traits as_known(const WorkloadRecord& w, hooks::Traits said);
  bool waits_as_before(WorkloadId id, const api::Workload& now, const hooks::Traits& said) const;
  void take_traits(WorkloadId id, hooks::Traits said);
  void renew_traits(WorkloadId id, hooks::Traits said);
  void pass_on(WorkloadId id);

  Model& model_;
  Turn& turn_;
  Structure& structure_;
  Relations& relations_;
  Holdings& holdings_;
  Waiting& waiting_;
  Representation& representation_;
  Lifecycle& lifecycle_;
  Shapes shapes_;
};

}  // namespace sluice
