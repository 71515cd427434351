// Why a workload is where it is: what it asks for, what each flavor has for it, and which workloads
// hold what it lacks. Plain values, copied from the engine on request. Amounts are in the engine's
// unit: milli for cpu, base units else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/types/workload_state.hpp"

namespace sluice {

struct Model;

/// One resource of a pod set on one flavor of the queue. What earlier pod sets of the workload
/// would take is taken already: of the first flavor that has room for all that such a pod set asks
/// for, or, where none has, all there is of the first that ever could.
struct FlavorAnswer {
  std::string flavor;
  std::string unsuitable;      ///< why its nodes are not for these pods; empty: they are
  std::int64_t available = 0;  ///< to this queue now, borrowing included; below 0 after a quota cut
  std::int64_t maximum = 0;    ///< to this queue, if no other workload used anything
  std::int64_t nominal = 0;    ///< of this queue
  std::int64_t missing = 0;    ///< 0: it fits
  bool never = false;          ///< more is asked for than `maximum`
  bool shared = false;         ///< earlier pod sets have their part of `maximum`
};

struct ResourceAnswer {
  std::string resource;
  std::int64_t requested = 0;
  bool covered = true;  ///< by the queue; true without one
  /// Of the queue's resource groups: one flavor has to serve all resources of a group.
  std::uint32_t group = 0;
  std::vector<FlavorAnswer> flavors;
};

struct PodSetAnswer {
  std::string name;
  std::int32_t count = 0;
  std::int32_t least = 0;  ///< with so many it may start: what is asked for is for these
  std::vector<ResourceAnswer> resources;
};

/// A workload that holds some of what is missing.
struct QuotaHolder {
  std::string workload, cluster_queue, flavor, resource;
  std::int64_t amount = 0;
  std::int32_t priority = 0;
  Time since = 0;
};

/// Workloads that hold some of it and are not among the holders by name.
struct OtherHolders {
  std::string flavor, resource;
  std::size_t unnamed = 0;  ///< the caller may not know them
  std::int64_t unnamed_amount = 0;
  std::size_t more = 0;  ///< beyond those that hold most
  std::int64_t more_amount = 0;
};

/// What rejected the workload when it was looked at last.
struct Refusal {
  std::string by;               ///< a plugin; empty: the engine itself
  std::string pod_set, flavor;  ///< empty: the workload as a whole
  std::string text;
};

/// A workload that waits or runs in the place of the one that is explained.
struct StandIn {
  WorkloadId workload = 0;
  bool parked = false;
};

struct Explanation {
  std::string cluster_queue;  ///< empty: it is in none
  /// Key of the workload that its admission ends: what that holds counts as available. May be
  /// empty.
  std::string replaces;
  std::vector<std::string> cohorts;  ///< of the queue, the nearest first
  bool queued = false;
  bool parked = false;  ///< it waits for something to change, not for its turn
  std::size_t ahead_in_cluster_queue = 0, in_cluster_queue = 0;
  std::size_t ahead_in_local_queue = 0, in_local_queue = 0;
  /// Keys of those in front of it in its ClusterQueue, the nearest to the head first; at most
  /// kMostAhead.
  std::vector<std::string> ahead;
  static constexpr std::size_t kMostAhead = 5;
  /// In a StrictFIFO queue only the head is looked at: its key, where that is another workload. May
  /// be empty.
  std::string head;
  /// Why it has this place where plugins say so, or why they do not (then the built-in order
  /// holds).
  std::vector<Refusal> order;
  std::vector<PodSetAnswer> pod_sets;
  std::vector<Refusal> refusals;
  /// Of flavors that lack something, in queues whose use takes from what this one may have; those
  /// that hold most first, then by key; at most kMostHolders for each flavor and resource.
  std::vector<QuotaHolder> holders;
  std::vector<OtherHolders> others;  ///< in order of flavor and resource
  std::vector<StandIn> stand_ins;    ///< in the order of their queue
  static constexpr std::size_t kMostHolders = 10;
};

/// May the caller know of workloads in this namespace? Empty: of all.
using MayKnow = std::function<bool(std::string_view ns)>;

/// What each flavor has for the workload, and which workloads hold what it lacks, by name where
/// `may_know` allows (asked once per namespace). Looks as if what it replaces were gone, and leaves
/// the model as it was. O(flavors + members of its queue + holders of its tree).
Explanation explain(Model& model, WorkloadId id, const MayKnow& may_know);

}  // namespace sluice
