#include "host/kernel/plugin_notices.hpp"

#include <utility>

#include "host/objects/claims.hpp"
#include "host/objects/object_key.hpp"
#include "sluice/cpp/marks.hpp"

namespace sluice::host {
namespace {

std::optional<hooks::Event> event_of(DecisionType type) {
  switch (type) {
    case DecisionType::kQuotaReserved:
      return hooks::Event::kReserved;
    case DecisionType::kAdmitted:
      return hooks::Event::kAdmitted;
    case DecisionType::kEvicted:
      return hooks::Event::kEvicted;
    case DecisionType::kDeactivated:
      return hooks::Event::kDeactivated;
    case DecisionType::kFinished:
      return hooks::Event::kFinished;
    case DecisionType::kWaitingForVictims:
      return hooks::Event::kWaitingForVictims;
    case DecisionType::kReservationLost:
      return hooks::Event::kReservationLost;
    case DecisionType::kPending:
    case DecisionType::kRequeued:
    case DecisionType::kCheckState:
    case DecisionType::kLowered:
    case DecisionType::kStatus:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

/// The workload as plugins are told of it.
std::shared_ptr<const api::Workload> PluginNotices::told_of(WorkloadId id) const {
  auto out = std::make_shared<api::Workload>();
  if (const auto object = engine_.object(id)) {
    *out = *object;
    out->status = engine_.status(id);
  } else {  // deleted since it was decided
    const auto [ns, name] = split_key(engine_.key(id));
    out->meta.ns = ns;
    out->meta.name = name;
  }
  return out;
}

std::optional<hooks::Notification> PluginNotices::notice(hooks::Event event, WorkloadId id) const {
  if (!plugins_.listens(event, true)) return std::nullopt;  // nor to one that nobody claims
  const StoredObject* stored = store_.find(workload_kind_, engine_.key(id));
  hooks::Notification out;
  out.event = event;
  out.gone = stored == nullptr;
  if (stored) out.claimed_by = claims_of(*stored).plugins;
  if (!plugins_.listens(event, out.gone || !out.claimed_by.empty())) return std::nullopt;
  return out;
}

// What a step decided on a workload follows each other, and leaves it in one state, unless a plugin
// that is told of the first changes something.
void PluginNotices::tell(hooks::Event event, WorkloadId id, const std::string& reason,
                         std::vector<std::string> others) {
  auto told = notice(event, id);
  if (!told) return;
  if (last_ != id || as_of_ != changes_) workload_ = told_of(id);
  last_ = id;
  as_of_ = changes_;
  told->sequence = ++told_;
  told->workload = workload_;
  told->reason = reason;
  told->others = std::move(others);
  plugins_.notify(*told);
}

void PluginNotices::note_deletion(WorkloadId id) {
  if (!engine_.holds_quota(id)) return;
  auto told = notice(hooks::Event::kEvicted, id);
  if (!told) return;
  told->workload = told_of(id);
  told->reason = told::kDeleted;
  deleted_.push_back(*std::move(told));
}

void PluginNotices::tell(const std::vector<Decision>& decisions) {
  last_.reset();
  for (hooks::Notification& told : std::exchange(deleted_, {})) {
    told.sequence = ++told_;
    plugins_.notify(told);
  }
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const Decision& decision = decisions[i];
    const bool preempted = decision.type == DecisionType::kEvicted && !decision.by.empty();
    const bool first_of_set = preempted && (i == 0 || decisions[i - 1].by != decision.by);
    if (const auto by = first_of_set ? engine_.find(decision.by) : std::nullopt) {
      std::vector<std::string> victims;
      for (std::size_t j = i; j < decisions.size() && decisions[j].by == decision.by; ++j)
        if (decisions[j].type == DecisionType::kEvicted)
          victims.push_back(engine_.key(decisions[j].workload));
      tell(hooks::Event::kPreempting, *by, "", std::move(victims));
    }
    if (decision.type == DecisionType::kEvicted && !decision.admitted)
      tell(hooks::Event::kReservationLost, decision.workload, decision.reason, {});
    if (const auto event = event_of(decision.type))
      tell(*event, decision.workload, decision.reason, {});
  }
}

void PluginNotices::tell_again(hooks::Event event, WorkloadId id) {
  auto told = notice(event, id);
  if (!told) return;
  told->sequence = ++told_;
  told->workload = told_of(id);
  told->reason = told::kPresentState;
  plugins_.notify_again(*told);
}

void PluginNotices::tell_present_state() {
  for (const WorkloadId id : engine_.workloads()) {
    const WorkloadState state = engine_.state(id);
    if (state == WorkloadState::kQuotaReserved) tell_again(hooks::Event::kReserved, id);
    if (state == WorkloadState::kAdmitted) tell_again(hooks::Event::kAdmitted, id);
  }
}

}  // namespace sluice::host
