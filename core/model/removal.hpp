// Removal: takes workloads away for the length of a simulation and puts them back.
//
// While it lives, the workloads' usage is not counted and they are marked `gone`, so that they are
// no candidates either. The planned victims of one of them count again meanwhile. Restores in
// reverse order, exactly. Workloads that hold no quota, or are gone already, are left alone.
// Threads: as Model, within one root.
#pragma once

#include <vector>

#include "core/base/check.hpp"
#include "core/model/model.hpp"

namespace sluice {

class Removal {
 public:
  explicit Removal(Model& model) : model_(model) {}
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal() { restore(); }

  void remove(WorkloadId id) {
    WorkloadRecord& w = model_.workloads[id];
    if (!w.holds_quota() || w.gone) return;
    SLUICE_CHECK(w.exists(), "workload ", id, " is removed and does not exist");
    w.gone = true;
    settle(id);
    removed_.push_back(id);
  }

  /// Puts one back before the others; it may be removed again. REQUIRES: it was removed here. O(1).
  void put_back(WorkloadId id) {
    WorkloadRecord& w = model_.workloads[id];
    SLUICE_CHECK(w.gone, w.key, " is not gone");
    w.gone = false;
    settle(id);
  }

  void restore() {
    for (; !removed_.empty(); removed_.pop_back())
      if (model_.workloads[removed_.back()].gone) put_back(removed_.back());
  }

 private:
  void settle(WorkloadId id) {
    SLUICE_CHECK(model_.workloads[id].holds_quota(), model_.key(id), " let go while it was away");
    model_.settle(id);
    for (const WorkloadId planned : model_.workloads[id].holding->planned) model_.settle(planned);
  }

  Model& model_;
  std::vector<WorkloadId> removed_;  // and those that were put back since
};

}  // namespace sluice
