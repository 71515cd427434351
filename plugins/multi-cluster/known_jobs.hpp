// KnownJobs: of which job that may change its size a workload is, or was when it is gone; and which
// workloads a job has.
//
// Of those that are gone it keeps what somebody still needs, and at most as many more as it holds
// of others: who is not needed is looked for whenever it has doubled. The workloads of a job are
// known from when they were looked up: later ones are remembered before they can take its place,
// because that waits for their check. Used inside hooks, on their thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace clusters {

/// A workload by its namespace and name.
struct WorkloadName {
  std::string ns, name;
  auto operator<=>(const WorkloadName&) const = default;
};

struct KnownJob {
  std::string name, uid;
};

class KnownJobs {
 public:
  static constexpr std::size_t kFew = 64;  ///< fewer are not looked through

  using Needed = std::function<bool(const WorkloadName&, const KnownJob&)>;

  void remember(const WorkloadName& workload, KnownJob job, const Needed& needed) {
    if (const auto of = workloads_.find({workload.ns, job.uid}); of != workloads_.end())
      of->second.insert(workload.name);
    known_[workload] = std::move(job);
    if (known_.size() < full_) return;
    std::erase_if(known_, [&](const auto& each) { return !needed(each.first, each.second); });
    workloads_.clear();  // those that go on are looked up again
    full_ = std::max(kFew, 2 * known_.size());
  }
  /// nullptr: it is not known.
  const KnownJob* find(const WorkloadName& workload) const {
    const auto it = known_.find(workload);
    return it == known_.end() ? nullptr : &it->second;
  }
  /// The names of the workloads that a job of this namespace and UID has, and of some that are
  /// gone; nullptr: they have to be looked up.
  const std::set<std::string>* workloads_of(const std::string& ns, const std::string& uid) const {
    const auto it = workloads_.find({ns, uid});
    return it == workloads_.end() ? nullptr : &it->second;
  }
  /// All that there are. Nothing is kept of a job that has none: it may have been over for long.
  void looked_up(const std::string& ns, const std::string& uid, std::set<std::string> workloads) {
    if (!workloads.empty()) workloads_[{ns, uid}] = std::move(workloads);
  }
  std::size_t size() const { return known_.size(); }

 private:
  std::map<WorkloadName, KnownJob> known_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> workloads_;  // ns, job UID
  std::size_t full_ = kFew;
};

}  // namespace clusters
