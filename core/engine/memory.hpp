// EngineMemory: what decisions depend on and no object says: which workloads are parked, where
// walks over flavors stand, which one has a preemptor's place, which evicted which lately.
//
// A host that starts again does without it: it looks at every workload anew. An engine that is to
// decide exactly as another one would next takes it over, with the same objects. By keys and words,
// because ids mean nothing in another engine. Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.hpp"

namespace sluice {

struct Model;
struct PendingReason;

struct EngineMemory {
  /// Parked for a reason; with all its equals, unless alone.
  struct Parked {
    std::string workload;
    std::shared_ptr<const PendingReason> why;  ///< as a text; null: of its own
    bool alone = false;
  };
  std::vector<Parked> parked;
  /// Of one in the heap that has not seen all flavors. Ages, not moments.
  struct Scan {
    std::string workload;
    std::vector<std::int16_t> positions;
    std::uint64_t cycles = 0, queue_generations = 0, tree_generations = 0;
  };
  std::vector<Scan> scans;
  std::vector<std::pair<std::string, std::string>> places;  ///< ClusterQueue, workload
  struct Issued {
    std::string preemptor;
    std::vector<Time> at;
  };
  std::vector<Issued> issued;
  struct Meeting {
    std::string preemptor, victim;
    int count = 0;
    Time last = 0;
  };
  std::vector<Meeting> meetings;
  bool empty() const {
    return parked.empty() && scans.empty() && places.empty() && issued.empty() && meetings.empty();
  }
};

/// O(classes of equals that wait + those in the heaps).
EngineMemory memory_of(const Model& model);
/// What is not known here is left out. The model is that of an engine that took its objects up and
/// did not decide anything yet.
void recall(Model& model, const EngineMemory& memory);

}  // namespace sluice
