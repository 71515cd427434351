// Why a workload is where it is: what it asks for, what each flavor has for it, and who holds what
// it lacks. Plain values, copied from the engine when somebody asks. Amounts are in the engine's
// unit: milli for cpu, base units else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.hpp"

namespace sluice {

/// One resource of a pod set on one flavor of the queue.
struct FlavorAnswer {
  std::string flavor;
  std::string unsuitable;      ///< why its nodes are not for these pods; empty: they are
  std::int64_t available = 0;  ///< to this queue now, borrowing included; below 0 after a quota cut
  std::int64_t maximum = 0;    ///< to this queue, if nobody else used anything
  std::int64_t nominal = 0;    ///< of this queue
  std::int64_t missing = 0;    ///< 0: it fits
  bool never = false;          ///< more is asked for than `maximum`
};

struct ResourceAnswer {
  std::string resource;
  std::int64_t requested = 0;
  bool covered = true;  ///< by the queue
  std::vector<FlavorAnswer> flavors;
};

struct PodSetAnswer {
  std::string name;
  std::int32_t count = 0;
  std::vector<ResourceAnswer> resources;
};

/// A workload that holds some of what is missing.
struct QuotaHolder {
  std::string workload, cluster_queue, flavor, resource;
  std::int64_t amount = 0;
  std::int32_t priority = 0;
  Time since = 0;
};

struct Explanation {
  std::vector<PodSetAnswer> pod_sets;
  /// Of flavors that lack something, within reach of the queue; most first, then by key.
  std::vector<QuotaHolder> holders;
  std::size_t more_holders = 0;  ///< that were left out
};

}  // namespace sluice
