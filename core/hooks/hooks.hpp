// The hooks through which plugins are called: what a loaded plugin may decide.
//
// core knows nothing of shared libraries; the host binds these abstract classes to plugins
// (host/plugins/bridge). The engine calls those of Hooks, within a cycle only; the host calls the
// others, and what they answer that concerns the engine is an input to it. A null pointer means
// that no plugin provides the point, and the built-in behaviour of docs/semantics.md applies. No
// hook is called under a lock. Hooks marked [cycle] are called from many threads at once, must not
// block, and must answer the same for the same input; [control] hooks are called from the thread of
// the engine and its host, one at a time.
//
// For a plugin that faults (throws, returns a bad code, takes too long) the host fills the Fault,
// and the engine takes the closed default of that point: the workload is not nominated by that
// answer, and no workload is evicted because of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/kinds.hpp"

namespace sluice::hooks {

/// Dense number of a ClusterQueue: given at its first appearance, never reused.
using QueueId = std::uint32_t;

/// Set by the host when a plugin did not answer properly and its failure policy is closed.
struct Fault {
  std::string plugin;
  std::string text;  ///< one sentence for the workload's pending reason
  explicit operator bool() const { return !plugin.empty(); }
  /// The text, with the plugin's name in it.
  std::string sentence() const {
    return text.find(plugin) == std::string::npos ? plugin + ": " + text : text;
  }
};

/// How well a flavor serves a request, worst first (semantics 4.2).
enum class Mode : std::int32_t {
  kNoFit = 0,
  kNoCandidates = 1,
  kPreempt = 2,
  kReclaim = 3,
  kFit = 4
};

/// The worst (mode, borrow level) over the resources of one flavor. Level 0: no borrowing.
struct FlavorOutcome {
  Mode mode = Mode::kNoFit;
  std::int32_t borrow_level = 0;
  bool operator==(const FlavorOutcome&) const = default;
};

/// One tried flavor, and the best of this scan so far (this one not counted).
struct SearchStep {
  QueueId queue = 0;
  FlavorOutcome current;
  bool has_best = false;
  FlavorOutcome best;
};

enum class SearchVerdict : std::int32_t {
  kGoOn = 0,      ///< keep the better one and try the next flavor
  kStopHere = 1,  ///< take this flavor, even if an earlier one was better
  kStopBest = 2,  ///< stop with the better of this one and the best so far
};

/// What happened since the scan position was recorded. The generations count what semantics 4
/// names: of the queue, its holders and configuration; of the tree, those of all its queues
/// together.
struct PositionAge {
  QueueId queue = 0;
  std::uint64_t cycles = 0;  ///< 1: recorded in the cycle just before this one
  std::uint64_t queue_generations = 0;
  std::uint64_t tree_generations = 0;
};

/// Is given every queue, so that cycle hooks know what a plugin's fields say there.
class QueueWatch {
 public:
  virtual ~QueueWatch() = default;
  /// [control] The queue exists or changed; `queue.json` holds plugin-added fields.
  virtual void queue_changed(QueueId id, const api::ClusterQueue& queue) = 0;
};

/// How far the walk through a group's flavors goes, and which of two results is the better one. At
/// most one provider. nullopt: it has no answer, and the built-in policy
/// (core/scheduling/search_policy.hpp) has one.
class FlavorSearch {
 public:
  virtual ~FlavorSearch() = default;
  /// [cycle]
  virtual std::optional<SearchVerdict> after_flavor(const SearchStep& step, Fault& fault) const = 0;
  /// [cycle] Is `a` strictly better than `b` in this queue? NoFit and NoCandidates never get here:
  /// they are worst whatever the preference.
  virtual std::optional<bool> better(QueueId queue, FlavorOutcome a, FlavorOutcome b,
                                     Fault& fault) const = 0;
  /// [cycle] Does the recorded position still hold? Asked only when shape and priority are the
  /// same.
  virtual std::optional<bool> keep_position(const PositionAge& age, Fault& fault) const = 0;
};

/// What is known of a flavor; without a ResourceFlavor nothing but its name.
struct FlavorFacts {
  std::string_view name;
  const api::LabelMap* node_labels = nullptr;
  const std::vector<api::Taint>* node_taints = nullptr;
};

struct FilterQuery {
  const api::Workload& workload;
  QueueId queue = 0;
  std::uint32_t pod_set = 0;  ///< index into workload.pod_sets
  std::span<const std::string_view> flavors;
  std::span<const FlavorFacts> facts = {};  ///< one per flavor, or empty
  const api::ClusterQueue* cluster_queue = nullptr;
};

struct FilterAnswer {
  std::vector<std::uint8_t> skip;    ///< one per flavor, 1: not for this pod set
  std::vector<std::string> reasons;  ///< one per flavor, set where skipped
  std::vector<std::string> by;       ///< the plugin, where skipped; may be shorter, or empty
};

class FlavorFilter {
 public:
  virtual ~FlavorFilter() = default;
  /// [cycle] Unions the skips of all filters. `answer` comes in sized and zeroed.
  virtual void filter(const FilterQuery& query, FilterAnswer& answer, Fault& fault) const = 0;
};

struct VetoQuery {
  const api::Workload& preemptor;
  QueueId queue = 0;
  std::span<const api::Workload* const> candidates;  ///< empty: only "may it preempt at all?"
  const api::ClusterQueue* cluster_queue = nullptr;  ///< the preemptor's
  std::span<const Time> admitted_at = {};            ///< by candidate; 0: it is not admitted
};

struct VetoAnswer {
  bool may_not_preempt = false;
  std::string reason;                    ///< why not, for the pending message
  std::string by;                        ///< the plugin
  std::vector<std::uint8_t> protected_;  ///< one per candidate, 1: protected
};

class PreemptionVeto {
 public:
  virtual ~PreemptionVeto() = default;
  /// [cycle] Unions the vetoes. A fault is a veto.
  virtual void veto(const VetoQuery& query, VetoAnswer& answer, Fault& fault) const = 0;
};

/// Members stay adjacent in the queue, ordered as `order_as`, inside by rank (mechanisms 1).
struct Group {
  std::string id;
  std::int32_t rank = 0;
  /// The members are ways to run `order_as`: at most one of them is admitted. Where `order_as`
  /// takes no part, its status is that of the admitted member; totals count it for all of them, and
  /// they share its backoff and its limit of requeues.
  bool represents = false;
  std::string order_as;  ///< key (`namespace/name`) of the workload whose place the group has
  std::string called;    ///< what sentences call a member that represents; empty: workload
  bool operator==(const Group&) const = default;
};

enum class ReplacedEnds : std::int32_t { kFinished = 0, kDeactivated = 1 };

struct Replaces {
  std::string workload;  ///< key
  ReplacedEnds how = ReplacedEnds::kFinished;
  std::string reason;
  std::string message;
  /// Only with at least its pods, and on better flavors in the order of the queue.
  bool only_better = false;
  bool operator==(const Replaces&) const = default;
};

/// Where a plugin puts a workload within its ClusterQueue, or all workloads of a LocalQueue: low
/// keys first, before priority and time. 0: where the built-in order has it.
struct Ordering {
  std::int64_t key = 0;
  std::string because;  ///< for people
  std::string by;       ///< the plugin; empty: none gave a key
  std::string fault;    ///< why it has none: the built-in order holds in the whole ClusterQueue
  bool operator==(const Ordering&) const = default;
};

/// What plugins say of one workload beside its object, an input of the engine; the defaults are
/// those of a workload without any plugin.
struct Traits {
  /// The answer is missing, for this reason: the last known traits stay valid (without any, the
  /// rest of this), and the workload waits.
  std::string unknown_because;
  /// It is not queued, for this reason; what it holds it keeps.
  std::string waits_because;
  bool takes_part = true;
  std::string takes_no_part_because;
  bool has_group = false;
  Group group;
  bool has_replaces = false;
  Replaces replaces;
  std::string follows;  ///< key: preempting that one ends this one too
  std::string shape_key;
  std::string inactive_because;  ///< for its condition, while it is inactive
  bool may_lower_counts = false;
  /// What it runs ends later than its quota would: evicted, it keeps that until its end is told.
  bool ends_later = false;
  std::string ends_later_by;  ///< the plugin that said so, and tells of the end
  std::string conflict;       ///< two providers answered one trait: why it stays pending
  Ordering order;
  bool operator==(const Traits&) const = default;
};

/// What the plugins together answer about one workload.
struct TraitsAnswer {
  Traits traits;
  std::vector<std::string> claimed_by;  ///< those that answered anything but the default
};

/// The workload whose traits are wanted, and what its object alone does not say.
struct TraitsQuery {
  const api::Workload& workload;
  std::string_view cluster_queue;  ///< that its LocalQueue names now; empty: there is none
  bool holds_quota = false;
};

class WorkloadTraits {
 public:
  virtual ~WorkloadTraits() = default;
  /// [control] Asked by the host when the workload, its LocalQueue or the ClusterQueue behind it
  /// comes or changes, and when a plugin asks for it.
  virtual void traits(const TraitsQuery& query, TraitsAnswer& out, Fault& fault) = 0;
};

/// A LocalQueue whose place within its ClusterQueue is wanted.
struct OrderQuery {
  QueueId queue = 0;
  std::string_view cluster_queue;
  std::string_view local_queue;  ///< `namespace/name`
};

/// The order within ClusterQueues. At most one provider. Keys are inputs of the engine, which
/// compares them in its cycles; that of a workload comes with its traits.
class QueueOrder {
 public:
  virtual ~QueueOrder() = default;
  /// [control] Asked by the host when the LocalQueue, or the ClusterQueue behind it, comes or
  /// changes, and when the plugin asks for it. A fault is in the answer.
  virtual void local_queue(const OrderQuery& query, Ordering& out) = 0;
  /// Whether it has keys for single workloads, too.
  virtual bool orders_workloads() const = 0;
};

enum class Event : std::int32_t {
  kReserved = 0,
  kPreempting = 1,  ///< preemptions issued; `others` are the victims
  kWaitingForVictims = 2,
  kAdmitted = 3,
  kReservationLost = 4,
  kEvicted = 5,
  kDeactivated = 6,
  kFinished = 7,
};

struct Notification {
  std::uint64_t sequence = 0;
  Event event = Event::kReserved;
  std::shared_ptr<const api::Workload> workload;
  std::string reason;
  std::vector<std::string> others;      ///< keys
  std::vector<std::string> claimed_by;  ///< plugins that claim the workload
  bool gone = false;                    ///< it was deleted; who claimed it is not known
};

class Notifications {
 public:
  virtual ~Notifications() = default;
  /// [control] Called by the host after the commit, in order, at least once.
  virtual void notify(const Notification& notification) = 0;
};

/// How the pod sets that a job has now compare with those of one of its workloads.
enum class JobMatch : std::int32_t {
  kSame = 0,
  kCounts = 1,  ///< same names and templates; counts differ
  kOther = 2,
};

struct JobPodSet {
  std::string name;
  std::int32_t count = 0;
  std::optional<std::int32_t> min_count;
};

struct JobWorkload {
  std::shared_ptr<const api::Workload> workload;
  JobMatch match = JobMatch::kOther;
};

/// A job as its plugins see it. The caller keeps what it points to.
struct JobQuery {
  std::string_view kind;  ///< `batch/Job`
  std::string_view job;   ///< the whole object as JSON, status included
  std::span<const JobPodSet> pod_sets;
  std::span<const JobWorkload> workloads;  ///< the oldest first, finished ones too
};

/// A workload that a job is to have. Its pod sets are those of the job.
struct NewJobWorkload {
  std::string name;      ///< empty: the host's formula
  std::string revision;  ///< enters the formula, so that a job can have several workloads
  std::vector<std::pair<std::string, std::string>> labels, annotations;
};

struct EndedJobWorkload {
  std::string name;
  std::string reason, message;  ///< of the condition Finished
};

/// What becomes of a job's workloads. Names are without namespace.
struct JobPlan {
  std::string provider;             ///< the plugin that answered; empty: none did
  std::string speaker;              ///< whose conditions the job follows; empty: none yet
  std::vector<std::string> resize;  ///< get the job's counts in place; a holder only lower ones
  std::vector<NewJobWorkload> create;
  std::vector<EndedJobWorkload> finish;
  std::vector<std::string> remove;  ///< finished ones that are deleted
  bool recreate = false;            ///< stop the job, remove its workloads, make a new one
  std::string conflict;             ///< two plugins answered: why the job waits
};

class JobMapping {
 public:
  virtual ~JobMapping() = default;
  /// [control] Asked whenever the job or one of its workloads changed, until nothing is left to do.
  virtual void plan(const JobQuery& query, JobPlan& out, Fault& fault) = 0;
};

struct PodGrants {
  /// One per pod set of the query: how many pods may run; absent: as many as there are.
  std::vector<std::optional<std::int32_t>> pods;
};

class PodGate {
 public:
  virtual ~PodGate() = default;
  /// [control] Names of the scheduling gates that a new pod of the job gets, each once, in order.
  virtual void gates(const JobQuery& query, std::vector<std::string>& out, Fault& fault) = 0;
  /// [control] The least that any plugin grants. `out.pods` comes in sized and empty.
  virtual void granted(const JobQuery& query, PodGrants& out, Fault& fault) = 0;
};

/// The hooks that the engine calls, all of them [cycle]; any may be null.
struct Hooks {
  FlavorSearch* flavor_search = nullptr;
  FlavorFilter* flavor_filter = nullptr;
  PreemptionVeto* preemption_veto = nullptr;
};

/// All hooks; the host calls those that the engine does not, and any may be null.
struct HostHooks : Hooks {
  QueueWatch* queue_watch = nullptr;
  WorkloadTraits* workload_traits = nullptr;
  QueueOrder* queue_order = nullptr;
  JobMapping* job_mapping = nullptr;
  PodGate* pod_gate = nullptr;
  /// Names of loaded and enabled plugins; a workload claimed by another waits for it.
  std::vector<std::string> plugins;
};

}  // namespace sluice::hooks
