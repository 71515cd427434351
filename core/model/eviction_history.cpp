#include "core/model/eviction_history.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/base/check.hpp"

namespace sluice {

int EvictionHistory::issued(WorkloadId preemptor, Time now) {
  std::vector<Time>& times = issues_[preemptor];
  std::erase_if(times, [&](Time time) { return now - time > window_; });
  SLUICE_CHECK(times.empty() || times.back() <= now, "workload ", preemptor,
               " issued preemptions at ", times.back(), ", after ", now);
  times.push_back(now);
  return static_cast<int>(times.size());
}

void EvictionHistory::record(Pairs& pairs, WorkloadId from, WorkloadId other, Time now) {
  Meetings& met = pairs[from][other];
  met.count = fresh(met, now) ? met.count + 1 : 1;
  met.last = now;
}

void EvictionHistory::evicted(WorkloadId preemptor, WorkloadId victim, Time now) {
  SLUICE_CHECK(preemptor != victim, "workload ", victim, " makes room for itself");
  record(victims_of_, preemptor, victim, now);
  record(evicted_by_, victim, preemptor, now);
}

bool EvictionHistory::blocked(WorkloadId preemptor, WorkloadId victim, Time now) const {
  const auto mine = victims_of_.find(preemptor);
  if (mine == victims_of_.end()) return false;
  const auto met = mine->second.find(victim);
  if (met == mine->second.end() || met->second.count < 2 || !fresh(met->second, now)) return false;
  if (met->second.count >= kMostEvictions) return true;
  std::vector<WorkloadId> open = {preemptor};
  std::unordered_set<WorkloadId> seen = {preemptor};
  while (!open.empty()) {
    const auto it = evicted_by_.find(open.back());
    open.pop_back();
    if (it == evicted_by_.end()) continue;
    for (const auto& [other, times] : it->second) {
      if (!fresh(times, now) || !seen.insert(other).second) continue;
      if (other == victim) return true;
      open.push_back(other);
    }
  }
  return false;
}

void EvictionHistory::forget(WorkloadId id) {
  issues_.erase(id);
  const auto drop = [id](Pairs& from, Pairs& back) {
    const auto it = from.find(id);
    if (it == from.end()) return;
    for (const auto& [met, times] : it->second) {
      const auto other = back.find(met);
      if (other == back.end()) continue;
      other->second.erase(id);
      if (other->second.empty()) back.erase(other);
    }
    from.erase(it);
  };
  drop(victims_of_, evicted_by_);
  drop(evicted_by_, victims_of_);
}

}  // namespace sluice
