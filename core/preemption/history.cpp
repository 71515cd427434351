#include "core/preemption/history.hpp"

#include <algorithm>
#include <unordered_set>

namespace sluice {

int EvictionHistory::issued(WorkloadId preemptor, Time now) {
  std::vector<Time>& times = issues_[preemptor];
  std::erase_if(times, [&](Time time) { return now - time > window_; });
  times.push_back(now);
  return static_cast<int>(times.size());
}

void EvictionHistory::record(Pairs& pairs, WorkloadId from, WorkloadId other, Time now) {
  std::vector<Pair>& list = pairs[from];
  std::erase_if(list, [&](const Pair& pair) { return !fresh(pair, now); });
  for (Pair& pair : list) {
    if (pair.other != other) continue;
    ++pair.count;
    pair.last = now;
    return;
  }
  list.push_back({other, 1, now});
}

void EvictionHistory::evicted(WorkloadId preemptor, WorkloadId victim, Time now) {
  record(victims_of_, preemptor, victim, now);
  record(evicted_by_, victim, preemptor, now);
}

bool EvictionHistory::blocked(WorkloadId preemptor, WorkloadId victim, Time now) const {
  const auto mine = victims_of_.find(preemptor);
  if (mine == victims_of_.end()) return false;
  const bool met_twice =
      std::any_of(mine->second.begin(), mine->second.end(), [&](const Pair& pair) {
        return pair.other == victim && pair.count >= 2 && fresh(pair, now);
      });
  if (!met_twice) return false;
  std::vector<WorkloadId> open = {preemptor};
  std::unordered_set<WorkloadId> seen = {preemptor};
  while (!open.empty()) {
    const auto it = evicted_by_.find(open.back());
    open.pop_back();
    if (it == evicted_by_.end()) continue;
    for (const Pair& pair : it->second) {
      if (!fresh(pair, now) || !seen.insert(pair.other).second) continue;
      if (pair.other == victim) return true;
      open.push_back(pair.other);
    }
  }
  return false;
}

void EvictionHistory::forget(WorkloadId id) {
  issues_.erase(id);
  const auto drop = [id](Pairs& from, Pairs& back) {
    const auto it = from.find(id);
    if (it == from.end()) return;
    for (const Pair& pair : it->second) {
      const auto other = back.find(pair.other);
      if (other == back.end()) continue;
      std::erase_if(other->second, [id](const Pair& p) { return p.other == id; });
      if (other->second.empty()) back.erase(other);
    }
    from.erase(it);
  };
  drop(victims_of_, evicted_by_);
  drop(evicted_by_, victims_of_);
}

}  // namespace sluice
