#include "host/whatif/happenings.hpp"

#include <algorithm>

#include "core/model/model.hpp"

namespace sluice::host {

void Happenings::begin(const Engine& engine) {
  listening_ = true;
  all_.clear();
  places_.clear();
  before_.clear();
  held_.clear();
  for (const WorkloadId id : engine.workloads()) {
    if (before_.size() <= id) before_.resize(id + 1, WorkloadState::kFinished);
    before_[id] = engine.state(id);
    if (!holds(before_[id])) continue;
    held_.push_back({id, engine.object(id), engine.model().workloads[id].queue});
  }
}

void Happenings::decided(Time, const Decision& decision) {
  if (!listening_) return;
  const auto [place, fresh] = places_.try_emplace(decision.workload, all_.size());
  if (fresh) all_.push_back({decision.workload, false, {}, {}, {}});
  Of& of = all_[place->second];
  switch (decision.type) {
    case DecisionType::kEvicted:
      of.evicted = true;
      of.preemption = decision.preemption;
      of.by = decision.by;
      of.reason = decision.reason;
      break;
    case DecisionType::kReservationLost:
    case DecisionType::kFinished:
    case DecisionType::kDeactivated:
      of.reason = decision.reason;
      break;
    default:
      break;
  }
}

const Happenings::Of* Happenings::find(WorkloadId id) const {
  const auto place = places_.find(id);
  return place == places_.end() ? nullptr : &all_[place->second];
}

}  // namespace sluice::host
