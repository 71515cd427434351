// Structure: from configuration objects to the quota tree, and what a change of them makes dirty.
//
// Taking an object in only notes what it touches; rebuild() then builds the tree once, and Waking
// wakes the trees that changes of an instant touched once. Invariant: while the model's tree is not
// stale, every queue's node, groups, checks and activity are those of the objects taken in, and the
// usage is that of the holders; verify() builds it all anew and compares. The engine's thread only.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/cohort_chains.hpp"
#include "core/model/model.hpp"

namespace sluice {

class Structure {
 public:
  explicit Structure(Model& model) : model_(model) {}

  // Each creates the object or replaces its earlier form. A LocalQueue whose spec is what it was
  // wakes nobody, and nobody is queued anew: no cycle sees the rest of it. A cohort that is applied
  // wakes its tree, whatever changed (semantics 2).
  void apply(const api::Namespace& object);
  void apply(const api::ResourceFlavor& object);
  /// Its number.
  QueueId apply(const api::ClusterQueue& object);
  void apply(const api::Cohort& object);
  void apply(const api::LocalQueue& object);
  void apply(const api::AdmissionCheck& object);
  /// No-op when there is none. REQUIRES: not a workload.
  void remove(api::ObjectKind kind, const std::string& name);

  /// The number of a ClusterQueue that exists, or in which a workload holds quota; given to it
  /// once. Not for one that is only named: names without end may be, and a record stays.
  QueueId queue_id(std::string_view name);
  /// Its holders or configuration changed (semantics 4).
  void bump_generation(QueueId id);
  /// Parked workloads of its tree are to be looked at again.
  void wake_tree_of(QueueId id) { mark_dirty(id, QueueRecord::Dirty::kChanged); }
  /// The same, but only holders changed there, and waiting workloads went: if nothing can come of
  /// it, none of those that still wait is looked at.
  void released_in(QueueId id) { mark_dirty(id, QueueRecord::Dirty::kReleased); }
  /// Reservations came whose queue may be stopped already.
  void drain_soon() { changes_.drain = true; }

  /// What followed from the objects since the last call, beside the tree.
  struct Changes {
    std::set<QueueId> queues;            ///< their trees wake
    std::set<std::string> local_queues;  ///< where they lead may be another place now
    std::set<std::string> asked;  ///< these, and those of which only a plugin sees the change
    std::set<QueueId> relisted;   ///< their checks changed
    std::set<QueueId> activity;   ///< they became active or inactive, or for another reason
    bool drain = false;           ///< a queue was stopped, or may have been
  };
  const Changes& changes() const { return changes_; }
  /// Builds the tree anew if it is stale. O(nodes × frs + holders) then, else O(1).
  Changes rebuild();

  /// The roots of the trees to wake, in their order, each once; `changed`: by more than releases.
  struct DirtyTree {
    NodeId root = kNone;
    bool changed = false;
  };
  std::vector<DirtyTree> take_dirty_trees();

  /// Rebuilds the tree from the holders and compares every cell with what was kept incrementally.
  void verify();

 private:
  void remove_local_queue(const std::string& key);
  void remove_cluster_queue(const std::string& name);
  void mark_dirty(QueueId id, QueueRecord::Dirty why);
  void note_queue_change(QueueId id, bool generation);
  void note_check_change(const std::string& name);
  void note_local(const std::string& key);
  void note_locals_of(const std::string& cluster_queue);
  void unlist_local(const std::string& cluster_queue, const std::string& key);
  void build();
  std::set<NodeId> roots_of(const std::set<QueueId>& queues) const;
  std::set<NodeId> changed_roots(const std::set<QueueId>& queues) const;
  std::vector<QueueId> queues_below(const std::set<NodeId>& roots) const;
  void grow_generations();
  void wake_left();
  void wake_changed();
  void count_all();
  void rebuild_groups(QueueRecord& queue);
  void rebuild_checks(QueueRecord& queue);
  std::vector<NodeSpec> node_specs();
  void add_queue_specs(std::vector<NodeSpec>& specs,
                       const std::map<std::string, NodeId>& cohort_ids,
                       const std::vector<CohortChain>& chains);
  std::vector<QuotaSpec> quota_specs(const std::vector<api::ResourceGroup>& groups);
  void set_activity();
  void set_activity_by_checks(QueueRecord& queue);

  Model& model_;
  std::map<std::string, api::Cohort> cohorts_;
  /// Keys of the LocalQueues that lead to a ClusterQueue, by its name, whether or not it exists.
  std::map<std::string, std::set<std::string>> locals_;
  Changes changes_;
  std::set<QueueId> generation_queues_;  // their trees' generations grow
  std::set<std::string> changed_cohorts_;
  std::set<QueueId> left_;             // deleted, with holders
  std::vector<QueueId> dirty_queues_;  // trees to wake; each once (QueueRecord::dirty)
};

}  // namespace sluice
