#include "core/engine/engine.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/workers.hpp"
#include "core/engine/arrivals.hpp"
#include "core/engine/queue_views.hpp"
#include "core/engine/rounds.hpp"
#include "core/engine/waking.hpp"

namespace sluice {
namespace {

/// Over roots, on as many threads as configured. Below a few roots a thread costs more than
/// it brings (a nomination takes microseconds, waking a worker about five).
ParallelFor make_parallel_for(int threads) {
  if (threads == 1)
    return [](std::size_t n, const std::function<void(std::size_t)>& body) {
      for (std::size_t i = 0; i < n; ++i) body(i);
    };
  auto workers = std::make_shared<Workers>(threads);
  return [workers](std::size_t n, const std::function<void(std::size_t)>& body) {
    constexpr std::size_t kSerialBelow = 4;
    if (n < kSerialBelow) {
      for (std::size_t i = 0; i < n; ++i) body(i);
      return;
    }
    workers->run(n, body);
  };
}

}  // namespace

/// The parts, each made of those before it.
struct Engine::Joined {
  Joined(EngineConfig with, const hooks::Hooks& by)
      : config(std::move(with)),
        hooks(by),
        rounds(parts, lifecycle, make_parallel_for(config.threads)) {
    model.history.set_window(config.progress_window);
    model.requeue_by_eviction_time = config.requeue.by_eviction_time;
    // The empty texts of the pools are id 0 of flavors and resources too.
    model.flavors.resize(1);
  }

  /// Everything that changes of objects meant, before a cycle looks at the model.
  void sync() {
    const Structure::Changes changes = structure.rebuild();
    arrivals.follow_local_queues(changes.local_queues);
    lifecycle.tell_restarted(changes.queues);  // those that stand in a queue that came, too
    if (changes.drain) lifecycle.drain_stopped();
    if (!changes.relisted.empty()) lifecycle.relist_checks(changes.relisted);
    for (const QueueId id : changes.activity)  // why they wait is another reason now
      model.queues[id].pending.each([this](WorkloadId w, bool) { turn.touched.push_back(w); });
    lifecycle.settle_loaded();
    lifecycle.settle_represented();
    const Waking::Woken woken = waking.wake(everybody || lifecycle.has_evictions());
    if (woken.trees) turn.moved |= lifecycle.wake_rechecks();
    turn.moved |= woken.workloads;
    turn.stats.quiet_wakes += woken.quiet;
    rounds.count_as_busy(woken.cycles);
  }

  /// O(n log n) after a workload came or went, O(1) else.
  const std::vector<WorkloadId>& workloads_in_order() {
    if (ordered_version == model.ids_version) return in_order;
    in_order.clear();
    for (const auto& [key, id] : model.ids) in_order.push_back(id);
    std::sort(in_order.begin(), in_order.end(),
              [this](WorkloadId a, WorkloadId b) { return model.key(a) < model.key(b); });
    ordered_version = model.ids_version;
    return in_order;
  }

  EngineConfig config;
  hooks::Hooks hooks;
  Model model;
  Turn turn;
  Structure structure{model};
  Relations relations{model};
  Holdings holdings{model, structure};
  QueueOrders orders{model, turn};
  Waiting waiting{model, orders, turn};
  Representation representation{model, waiting, turn};
  Parts parts{model, config, hooks, turn, structure, relations, holdings, waiting, representation};
  Lifecycle lifecycle{parts};
  Arrivals arrivals{parts, lifecycle};
  Rounds rounds;
  Waking waking{model, structure, config, hooks};
  bool everybody = false;  // is looked at
  std::vector<WorkloadId> in_order;
  std::uint64_t ordered_version = 0;
};

Engine::Engine(EngineConfig config, const hooks::Hooks& hooks)
    : all_(std::make_unique<Joined>(std::move(config), hooks)) {}
Engine::~Engine() = default;

void Engine::begin_instant(Time now) {
  SLUICE_CHECK(now >= all_->model.now, "the clock went from ", all_->model.now, " to ", now);
  all_->rounds.begin_instant();
  all_->lifecycle.begin_instant(now);
}

bool Engine::step(std::vector<Decision>& out, std::vector<WorkloadId>* faulted) {
  out.clear();
  all_->turn.faulted.clear();
  all_->model.workloads.hand_out();
  all_->arrivals.tidy();
  all_->sync();
  SLUICE_CHECK(!all_->model.tree_stale && all_->model.frs.size() == all_->model.tree.fr_count(),
               "the tree knows ", all_->model.tree.fr_count(), " flavors and resources, the model ",
               all_->model.frs.size());
  const bool more = all_->rounds.run();
  if (more) all_->lifecycle.settle_represented();  // in the commit of what became of the members
  std::swap(out, all_->turn.decisions);
  if (faulted) *faulted = all_->turn.faulted;
  return more;
}

void Engine::apply(const api::Namespace& object) { all_->structure.apply(object); }
void Engine::apply(const api::ResourceFlavor& object) { all_->structure.apply(object); }
hooks::QueueId Engine::apply(const api::ClusterQueue& object) {
  return all_->structure.apply(object);
}
void Engine::apply(const api::Cohort& object) { all_->structure.apply(object); }
void Engine::apply(const api::LocalQueue& object) { all_->structure.apply(object); }
void Engine::apply(const api::AdmissionCheck& object) { all_->structure.apply(object); }
WorkloadId Engine::apply(std::shared_ptr<api::Workload> object, hooks::Traits traits) {
  return all_->arrivals.apply(std::move(object), std::move(traits));
}

void Engine::remove(api::ObjectKind kind, std::string_view key) {
  if (kind == api::ObjectKind::kLocalQueue) all_->orders.forget(std::string(key));
  if (kind != api::ObjectKind::kWorkload) return all_->structure.remove(kind, std::string(key));
  if (const auto id = find(key)) all_->arrivals.remove(*id);
}

void Engine::take_statuses_as_told() {
  WorkloadTable& workloads = all_->model.workloads;
  for (WorkloadId id = workloads.first_id(); id < workloads.end_id(); ++id) {
    WorkloadRecord& w = workloads[id];
    if (const ConditionRecord* reserved = w.condition(ConditionRecord::Type::kQuotaReserved);
        reserved && !reserved->is_true && w.state == WorkloadState::kPending)
      w.logged_pending = WorkloadRecord::kToldInStatus;
  }
}

Result<WorkloadId> Engine::existing(std::string_view key) const {
  if (const auto id = find(key)) return *id;
  return Error{"workload " + std::string(key) + " does not exist"};
}

Result<void> Engine::finish(std::string_view key, std::string_view reason, std::string_view message,
                            std::optional<Time> at) {
  const auto id = existing(key);
  if (!id) return id.error();
  return all_->lifecycle.finish(*id, reason, message, at.value_or(all_->model.now));
}

void Engine::ended(std::string_view key) {
  if (const auto id = find(key)) all_->lifecycle.ended(*id);
}

Result<void> Engine::report(std::string_view key, const api::AdmissionCheckState& check) {
  const auto id = existing(key);
  return id ? all_->lifecycle.report(*id, check) : Result<void>(id.error());
}

void Engine::traits_changed(WorkloadId id, hooks::Traits traits) {
  all_->arrivals.traits_changed(id, std::move(traits));
}

std::vector<WorkloadId> Engine::moved() const {
  return waiting_in(all_->model, all_->structure.changes().asked);
}

const std::set<std::string>& Engine::changed_local_queues() const {
  return all_->structure.changes().asked;
}

void Engine::order(const std::string& local_queue, hooks::Ordering said) {
  all_->orders.take(local_queue, std::move(said));
}

void Engine::traits_of_moved(WorkloadId id, hooks::Traits traits) {
  all_->arrivals.traits_of_moved(id, std::move(traits));
}

void Engine::target_reached(WorkloadId id) { all_->lifecycle.target_reached(id); }
void Engine::note_shown(WorkloadId id) {
  const WorkloadRecord& w = all_->model.workloads[id];
  if (w.state != WorkloadState::kPending) return;
  const auto why = pending_reason(all_->model, w, id);
  if (why && why->digest() != w.logged_pending) all_->turn.shown.insert(id);
}

void Engine::requeue(std::string_view key, bool retry_is_over) {
  const auto id = find(key);
  if (!id) return;
  if (retry_is_over) all_->lifecycle.end_retry(*id);
  const WorkloadRecord& w = all_->model.workloads[*id];
  if (w.queue != kNone && all_->model.queues[w.queue].pending.contains(*id))
    all_->structure.wake_tree_of(w.queue);
}

Time Engine::next_timer() const { return all_->lifecycle.next_timer(); }
const Model& Engine::model() const { return all_->model; }
EngineStats Engine::stats() const { return all_->turn.stats; }
std::vector<WorkloadId> Engine::workloads() const { return all_->workloads_in_order(); }
Explanation Engine::explain(WorkloadId id, const MayKnow& may_know) const {
  return sluice::explain(all_->model, id, may_know);
}

std::optional<WorkloadId> Engine::find(std::string_view key) const { return all_->model.find(key); }
const std::string& Engine::key(WorkloadId id) const { return all_->model.key(id); }
std::shared_ptr<const api::Workload> Engine::object(WorkloadId id) const {
  return all_->model.workloads[id].object;
}
WorkloadState Engine::state(WorkloadId id) const { return all_->model.workloads[id].state; }
WorkloadView Engine::view(WorkloadId id) const { return view_of(all_->model, id); }
api::WorkloadStatus Engine::status(WorkloadId id) const { return status_of(all_->model, id); }
bool Engine::holds_quota(WorkloadId id) const { return all_->model.workloads[id].holds_quota(); }

void Engine::look_at_everybody() { all_->everybody = true; }
EngineMemory Engine::memory() const { return memory_of(all_->model); }
void Engine::recall(const EngineMemory& memory) {
  if (memory.empty()) return;
  all_->sync();  // it wakes every workload
  sluice::recall(all_->model, memory);
}

void Engine::verify() const {
  all_->relations.verify();
  all_->holdings.verify();
  all_->lifecycle.verify();
  all_->representation.verify();
  all_->structure.verify();
}

}  // namespace sluice
