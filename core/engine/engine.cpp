#include "core/engine/engine.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/workers.hpp"
#include "core/engine/explanation.hpp"
#include "core/engine/state.hpp"

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

EngineState::EngineState(EngineConfig config, hooks::Hooks hooks)
    : config_(std::move(config)),
      hooks_(std::move(hooks)),
      parallel_for_(make_parallel_for(config_.threads)) {
  model.history.set_window(config_.progress_window);
  model.requeue_by_eviction_time = config_.requeue.by_eviction_time;
  // The empty texts of the pools are id 0 of flavors and resources too.
  model.flavors.resize(1);
  texts_ = {model.texts.intern("QuotaReserved"), model.texts.intern("Admitted"),
            model.texts.intern("The workload is admitted"), model.texts.intern("Pending")};
}

const std::vector<WorkloadId>& EngineState::in_order() const {
  if (!in_order_stale_) return in_order_;
  in_order_.clear();
  for (const auto& [key, id] : model.ids) in_order_.push_back(id);
  std::sort(in_order_.begin(), in_order_.end(),
            [this](WorkloadId a, WorkloadId b) { return model.key(a) < model.key(b); });
  in_order_stale_ = false;
  return in_order_;
}

Engine::Engine(EngineConfig config, hooks::Hooks hooks)
    : state_(std::make_unique<EngineState>(std::move(config), std::move(hooks))) {}
Engine::~Engine() = default;

void Engine::begin_instant(Time now) {
  SLUICE_CHECK(now >= state_->model.now, "the clock went from ", state_->model.now, " to ", now);
  state_->begin_instant(now);
}

void Engine::apply(const api::Namespace& object) { state_->apply(object); }
void Engine::apply(const api::ResourceFlavor& object) { state_->apply(object); }
void Engine::apply(const api::ClusterQueue& object) { state_->apply(object); }
void Engine::apply(const api::Cohort& object) { state_->apply(object); }
void Engine::apply(const api::LocalQueue& object) { state_->apply(object); }
void Engine::apply(const api::AdmissionCheck& object) { state_->apply(object); }
WorkloadId Engine::apply(std::shared_ptr<const api::Workload> object) {
  return state_->apply(std::move(object));
}
void Engine::take_statuses_as_told() { state_->take_statuses_as_told(); }
void Engine::remove(std::string_view kind, std::string_view key) { state_->remove(kind, key); }

Result<void> Engine::finish(std::string_view key, std::string_view reason,
                            std::string_view message) {
  const auto id = state_->model.find(key);
  if (!id) return Error{"workload " + std::string(key) + " does not exist"};
  return state_->finish(*id, reason, message);
}

Result<void> Engine::conclude(std::string_view key, std::string_view reason,
                              std::string_view message) {
  const auto id = state_->model.find(key);
  if (!id) return Error{"workload " + std::string(key) + " does not exist"};
  return state_->conclude(*id, reason, message);
}

Result<void> Engine::report(std::string_view key, const api::AdmissionCheckState& check) {
  const auto id = state_->model.find(key);
  if (!id) return Error{"workload " + std::string(key) + " does not exist"};
  return state_->report(*id, check);
}

void Engine::traits_changed(std::string_view key) {
  if (const auto id = state_->model.find(key)) state_->traits_changed(*id);
}
void Engine::requeue(std::string_view key) {
  if (const auto id = state_->model.find(key)) state_->requeue(*id);
}

bool Engine::step(std::vector<Decision>& out) { return state_->step(out); }
Time Engine::next_timer() const { return state_->next_timer(); }

std::optional<WorkloadId> Engine::find(std::string_view key) const {
  return state_->model.find(key);
}
const std::string& Engine::key(WorkloadId id) const { return state_->model.key(id); }
std::shared_ptr<const api::Workload> Engine::object(WorkloadId id) const {
  return state_->model.workloads[id].object;
}
WorkloadView Engine::view(WorkloadId id) const { return view_of(state_->model, id); }
WorkloadState Engine::state(WorkloadId id) const { return state_->model.workloads[id].state; }
std::vector<api::PodSetAssignment> Engine::assignment(WorkloadId id) const {
  return assignment_of(state_->model, id);
}
api::WorkloadStatus Engine::status(WorkloadId id) const { return status_of(state_->model, id); }
std::uint64_t Engine::attempt(WorkloadId id) const { return attempt_of(state_->model, id); }
std::vector<std::string> Engine::planned_victims(WorkloadId id) const {
  return sluice::planned_victims(state_->model, id);
}
bool Engine::may_lower_counts(WorkloadId id) const {
  const hooks::Traits* traits = state_->model.workloads[id].traits();
  return traits && traits->may_lower_counts;
}
std::optional<WorkloadId> Engine::counted_as(WorkloadId id) const {
  return sluice::counted_as(state_->model, id);
}
bool Engine::takes_part(WorkloadId id) const { return !state_->model.workloads[id].stands_aside(); }
std::vector<WorkloadId> Engine::workloads() const { return state_->in_order(); }
Explanation Engine::explain(WorkloadId id, const MayKnow& may_know) const {
  return sluice::explain(state_->model, id, may_know);
}
const Model& Engine::model() const { return state_->model; }
EngineStats Engine::stats() const { return state_->stats; }
void Engine::verify_ledger() const { state_->verify_ledger(); }

}  // namespace sluice
