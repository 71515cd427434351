// Model: the committed state that decisions are a function of.
//
// Records of flavors, queues and workloads, the quota tree and the ledger over it. Written by the
// engine's thread. While heads are nominated in parallel, each root's queues, holders and cells
// belong to one thread, which may simulate on them (removal.hpp) and restores them before it is
// done.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/intern.hpp"
#include "core/base/sweep_pace.hpp"
#include "core/base/text_map.hpp"
#include "core/model/config_record.hpp"
#include "core/model/eviction_history.hpp"
#include "core/model/ledger.hpp"
#include "core/model/placement.hpp"
#include "core/model/queue_record.hpp"
#include "core/model/queue_set.hpp"
#include "core/model/workload_table.hpp"
#include "core/quota/quota_tree.hpp"

namespace sluice {

struct FlavorRecord {
  bool exists = false;
  api::LabelMap node_labels;
  std::vector<api::Taint> node_taints;
  std::vector<api::Toleration> tolerations;
};

/// What a workload that preempts again and again keeps from others (semantics 8).
struct Earmark {
  QueueId queue = 0;
  std::vector<FrAmount> usage;
};

struct Model {
  FlavorResources frs;
  StringPool names;                  ///< of LocalQueues, `namespace/name`
  SweepPace names_pace{1024};        ///< when to forget those that nobody has
  SharedTexts texts;                 ///< of conditions
  std::deque<FlavorRecord> flavors;  ///< by FlavorId
  std::deque<QueueRecord> queues;    ///< by QueueId
  WorkloadTable workloads;
  QuotaTree tree;
  Ledger ledger{tree};
  EvictionHistory history;
  std::unordered_map<WorkloadId, Earmark> earmarks;  ///< each is counted in the ledger
  Time now = 0;
  std::uint64_t cycle = 0;               ///< cycles so far, over all queues and instants
  bool requeue_by_eviction_time = true;  ///< after PodsReadyTimeout (EngineConfig)

  /// What must be evicted when this one is, by their traits: its followers.
  std::unordered_map<WorkloadId, std::vector<WorkloadId>> together;
  /// Members of each sibling group, by the group's id.
  std::unordered_map<std::string, std::vector<WorkloadId>> siblings;

  /// Those that are ordered as a workload, by its key (their group's `order_as`).
  std::unordered_map<std::string, std::vector<WorkloadId>> anchored;

  std::unordered_map<std::string_view, WorkloadId> ids;  ///< by key, of those that exist
  std::set<WorkloadId> open;                             ///< that exist and have not finished
  std::map<StringId, std::size_t> finished;   ///< by LocalQueue, of those that count for themselves
  std::set<WorkloadId> finished_alone;        ///< the others
  std::uint64_t ids_version = 0;              ///< grows when a workload comes or goes
  TextMap<QueueId> queue_ids;                 ///< by name, also of those that are gone
  TextMap<LocalQueueRecord> local_queues;     ///< by `namespace/name`
  TextMap<api::LabelMap> namespaces;          ///< labels by name
  std::map<std::string, CheckRecord> checks;  ///< AdmissionChecks by name

  std::optional<bool> pods_ready;  ///< of all that hold quota; unknown: to be counted
  QueueSet maybe_head;             ///< their heaps may have a head
  std::vector<QueueId> noted;      ///< with changed waiting or counted workloads (note())
  std::uint64_t epoch = 0;         ///< grows when configuration changes
  /// By root: the last cycle of a wake that was counted, not computed (engine/waking.hpp).
  std::vector<std::uint64_t> quiet_cycles;

  /// The configuration, or the set of frs, is not what the tree was built from: until it is built
  /// anew nothing is counted in it, and nothing reads it.
  bool tree_stale = true;
  std::vector<std::uint64_t> tree_generations;  ///< by root, see tree_generation()

  /// Workloads whose preemptions wait for admission checks.
  std::set<WorkloadId> held;

  /// Counts the workload in the ledger, or stops counting it, as its state says: it counts while it
  /// holds quota, is not gone, and is not to be evicted for an existing preemptor. Nothing while
  /// the tree is stale.
  void settle(WorkloadId id) {
    if (tree_stale) return;
    WorkloadRecord& w = workloads[id];
    const bool counts =
        w.holds_quota() && !w.gone && (w.promised_to == kNone || workloads[w.promised_to].gone);
    if (counts == w.counted) return;
    if (counts)
      ledger.take(id, w);
    else
      ledger.release(id, w);
    w.counted = counts;
  }

  /// Grows with the generation of every queue of the tree that this queue belongs to.
  std::uint64_t tree_generation(QueueId queue) const { return tree_generations[tree.root(queue)]; }

  const std::string& key(WorkloadId id) const { return workloads[id].key; }
  std::optional<WorkloadId> find(std::string_view workload_key) const {
    const auto it = ids.find(workload_key);
    return it == ids.end() ? std::nullopt : std::optional(it->second);
  }
  /// The number that a ClusterQueue has or had; kNone: there was none of that name.
  QueueId known_queue(std::string_view name) const {
    const auto it = queue_ids.find(name);
    return it == queue_ids.end() ? kNone : it->second;
  }
  /// nullptr: there is no such ClusterQueue.
  const QueueRecord* find_queue(std::string_view name) const {
    const QueueId id = known_queue(name);
    return id == kNone || !queues[id].spec ? nullptr : &queues[id];
  }
  /// `namespace/name` of a LocalQueue; nullptr: there is none.
  const LocalQueueRecord* find_local_queue(std::string_view name) const {
    const auto it = local_queues.find(name);
    return it == local_queues.end() ? nullptr : &it->second;
  }
  /// The number of such a name in `names`, whether or not there is a LocalQueue.
  StringId number_of_local_queue(std::string_view name) {
    const std::size_t known = names.known();
    const StringId number = names.intern(name);
    if (names.known() > known) names_pace.took(name.size());
    return number;
  }
  /// `namespace/name` of the LocalQueue that a workload names, whether or not there is one.
  const std::string& local_queue_name(const WorkloadRecord& w) const {
    return names.text(w.local_queue);
  }
  static std::string local_queue_name(const api::Workload& object) {
    return object.meta.ns + "/" + object.queue_name;
  }
  /// The LocalQueue that the workload names; nullptr: there is none.
  const LocalQueueRecord* local_queue_of(const WorkloadRecord& w) const {
    return find_local_queue(local_queue_name(w));
  }
  /// Of one that may not be known to the engine yet.
  const LocalQueueRecord* local_queue_of(const api::Workload& object) const {
    return find_local_queue(local_queue_name(object));
  }

  /// What so many pods of a pod set ask of a resource: of `pods` one each, whatever they request
  /// (semantics 4), also where what is held was granted before its queue ceased to cover it.
  Amount amount_of(const WorkloadRecord& w, std::size_t pod_set, ResourceId resource,
                   std::int32_t count) const {
    if (frs.resource_name(resource) == "pods") return count;
    for (const ResourceAmount& r : w.pod_sets[pod_set].shape->requests)
      if (r.resource == resource) return multiply_saturating(r.amount, count);
    return 0;
  }

  /// All workloads that an eviction of this one takes along, directly or through others, without
  /// itself; whether they hold quota is not asked.
  std::vector<WorkloadId> bound_to(WorkloadId id) const {
    std::vector<WorkloadId> out;
    if (!together.contains(id)) return out;
    out.push_back(id);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto it = together.find(out[i]);
      if (it == together.end()) continue;
      for (const WorkloadId other : it->second)
        if (std::find(out.begin(), out.end(), other) == out.end()) out.push_back(other);
    }
    out.erase(out.begin());
    return out;
  }

  /// Those of them that hold quota under the same root.
  std::vector<WorkloadId> evicted_together_with(WorkloadId id) const {
    std::vector<WorkloadId> out = bound_to(id);
    std::erase_if(
        out, [&](WorkloadId other) { return !same_root(other, workloads[id].holding->queue); });
    return out;
  }

  /// Does the workload hold quota under the same root as this queue?
  bool same_root(WorkloadId id, QueueId queue) const {
    const WorkloadRecord& w = workloads[id];
    return w.holds_quota() && tree.root(w.holding->queue) == tree.root(queue);
  }

  /// May traits of one concern the other? Only within one namespace, and only if both have the same
  /// controlling owner, or none, or one controls the other: what an object says never reaches
  /// workloads of another user.
  static bool related(const WorkloadRecord& a, const WorkloadRecord& b) {
    if (!a.exists() || !b.exists() || a.object->meta.ns != b.object->meta.ns) return false;
    const std::string_view of_a = a.object->meta.controller_uid();
    const std::string_view of_b = b.object->meta.controller_uid();
    return of_a == of_b || (!of_a.empty() && of_a == b.uid.text()) ||
           (!of_b.empty() && of_b == a.uid.text());
  }

  /// The workload that the traits of this one replace; kNone: none that exists and is related.
  WorkloadId replaced_by(const WorkloadRecord& w) const {
    if (!w.extras || !w.extras->traits.has_replaces) return kNone;
    const auto it = ids.find(w.extras->traits.replaces.workload);
    if (it == ids.end() || &workloads[it->second] == &w) return kNone;  // none replaces itself
    return related(w, workloads[it->second]) ? it->second : kNone;
  }

  /// The existing members that represent this one, which takes no part, in the order they came.
  std::vector<WorkloadId> members_for(const WorkloadRecord& w) const {
    std::vector<WorkloadId> out;
    const auto named = w.stands_aside() ? anchored.find(w.key) : anchored.end();
    if (named == anchored.end()) return out;
    for (const WorkloadId id : named->second) {
      const WorkloadRecord& member = workloads[id];
      if (member.represents() && related(member, w)) out.push_back(id);
    }
    return out;
  }

  /// Which workload is counted for this one in totals: itself, or the one that it represents.
  WorkloadId counted_as(WorkloadId id) const {
    const std::string* represented = workloads[id].represents();
    const auto it = represented ? ids.find(*represented) : ids.end();
    return it != ids.end() && related(workloads[id], workloads[it->second]) ? it->second : id;
  }

  /// Evicted, it keeps its quota until somebody tells that it has ended; of a way to run another
  /// that is told of the other. `jobs_do`: EngineConfig::jobs_end_later.
  bool ends_later(WorkloadId id, bool jobs_do) const {
    const WorkloadRecord& w = workloads[id];
    if (w.state != WorkloadState::kAdmitted || w.stands_aside()) return false;
    const WorkloadRecord& whole = workloads[counted_as(id)];
    const WorkloadRecord& runs = whole.stands_aside() ? whole : w;
    if (jobs_do && runs.object->of_job) return true;
    // While the plugin that would tell is away, what it runs goes on.
    return runs.extras && (runs.extras->traits.ends_later ||
                           (w.evicting && !runs.extras->traits.waits_because.empty()));
  }

  /// The one of them that is admitted; kNone: none is.
  WorkloadId speaker_for(const WorkloadRecord& w) const {
    for (const WorkloadId id : members_for(w))
      if (workloads[id].state == WorkloadState::kAdmitted && workloads[id].holds_quota()) return id;
    return kNone;
  }

  /// By whose quota it runs, if it does: itself, or the one that represents it; kNone: none does.
  WorkloadId runs_as(WorkloadId id) const {
    return workloads[id].stands_aside() ? speaker_for(workloads[id]) : id;
  }

  /// Whether that is being evicted, and holds its quota meanwhile.
  bool in_eviction(WorkloadId id) const {
    const WorkloadId runs = runs_as(id);
    return runs != kNone && workloads[runs].evicting;
  }

  /// The other way to run the same that stands in the way of its admission; kNone: none. That
  /// is an admitted one, unless this one replaces it and is no worse placed than that asks for, or
  /// one that has finished, with which the group has reached its end.
  WorkloadId sibling_in_the_way(WorkloadId id) const {
    const WorkloadRecord& w = workloads[id];
    if (!w.extras || !w.extras->traits.has_group || !w.extras->traits.group.represents)
      return kNone;
    const auto group = siblings.find(w.extras->traits.group.id);
    if (group == siblings.end()) return kNone;
    const WorkloadId replaced = replaced_by(w);
    for (const WorkloadId other : group->second) {
      if (other == id) continue;
      const WorkloadState state = workloads[other].state;
      if (state == WorkloadState::kFinished) return other;
      if (state == WorkloadState::kAdmitted && (other != replaced || !gains_enough(w, other)))
        return other;
    }
    return kNone;
  }

  /// Does what it holds suffice to replace that one? Before it holds anything: that is asked later.
  bool gains_enough(const WorkloadRecord& w, WorkloadId replaced) const {
    const WorkloadRecord& r = workloads[replaced];
    if (!w.extras->traits.replaces.only_better || !w.holds_quota() || !r.holds_quota()) return true;
    return compare_placements(queues[w.holding->queue], placement_of(w), placement_of(r)) ==
           Gain::kBetter;
  }
};

}  // namespace sluice
