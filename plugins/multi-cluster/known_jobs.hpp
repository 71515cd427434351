// KnownJobs: of which job that may change its size a workload is, or was when it is gone.
//
// Of those that are gone it keeps what somebody still needs, and at most as many more as it holds
// of others: who is not needed is looked for whenever it has doubled. Used inside hooks, on their
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

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
    known_[workload] = std::move(job);
    if (known_.size() < full_) return;
    std::erase_if(known_, [&](const auto& each) { return !needed(each.first, each.second); });
    full_ = std::max(kFew, 2 * known_.size());
  }
  /// nullptr: it is not known.
  const KnownJob* find(const WorkloadName& workload) const {
    const auto it = known_.find(workload);
    return it == known_.end() ? nullptr : &it->second;
  }
  std::size_t size() const { return known_.size(); }

 private:
  std::map<WorkloadName, KnownJob> known_;
  std::size_t full_ = kFew;
};

}  // namespace clusters
