// The plan: what is to become of the pods of a group, and of its workload, as both are now. A pod
// that is in no group is a group of one that is never replaced.
//
// A pure function of what it is given; any thread. What it asks for is idempotent: asked again
// about what came of it, it asks for nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts.hpp"

namespace pods {

/// A pod set of a workload that is to be made, and a pod that shows what its pods look like; empty:
/// there is none yet, and the others say it (said_sets()).
struct NewPodSet {
  std::string name, model;
  std::int32_t count = 0;
  bool operator==(const NewPodSet&) const = default;
};

struct Ending {
  std::string reason, message;
  bool operator==(const Ending&) const = default;
};

/// Pods are named by their names, each at most once per list.
struct Plan {
  std::vector<NewPodSet> create;     ///< a workload of these pod sets
  bool foreign = false;              ///< the workload is somebody else's, and stays as it is
  bool remove_workload = false;      ///< it is not that of these pods
  std::vector<std::string> track;    ///< get the finalizer
  std::vector<std::string> release;  ///< lose it
  std::vector<std::string> excess;   ///< are deleted: there are more than asked for
  std::vector<std::string> stop;     ///< are deleted: they may run no longer
  Ending stop_because;
  std::vector<std::string> start;
  std::optional<Ending> finish;                     ///< of the workload
  std::map<std::string, std::int32_t> reclaimable;  ///< pods by pod set that are not needed again
  std::optional<bool> ready;                        ///< whether all pods are; nullopt: nobody asks
  std::int32_t absent = 0;                          ///< pods that are to come yet
  bool ended = false;  ///< the eviction of the workload: nothing of it runs any more
  /// Why there is no workload, or no further step, and the pod that is told; empty: all is well.
  std::string problem, told;
  std::string told_too;  ///< the other of two pods that disagree

  bool operator==(const Plan&) const = default;
};

/// Of the pod set in which more pods are than may be: later ones go first, but none that runs for
/// one that does not. `workload`: nullptr, there is none. All of `pods` are of one group, or there
/// is one that is in none.
Plan plan(const std::vector<Pod>& pods, const Held* workload);

/// So many pod sets has a workload at most.
inline constexpr std::size_t kMostPodSets = 18;

}  // namespace pods
