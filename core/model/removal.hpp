// Removal: takes workloads away for the length of a simulation and puts them back.
//
// While it lives, the workloads' usage is not counted and they are marked `gone`, so that they are
// no candidates either. Restores in reverse order, exactly. Workloads that hold nothing, or are
// gone already, are left alone. Threads: as Model, within one root.
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
    model_.ledger.release(id, w);
    w.gone = true;
    removed_.push_back(id);
  }

  /// Puts one back before the others; it may be removed again. REQUIRES: it was removed here. O(1).
  void put_back(WorkloadId id) {
    WorkloadRecord& w = model_.workloads[id];
    SLUICE_CHECK(w.gone, w.key, " is not gone");
    w.gone = false;
    model_.ledger.take(id, w);
  }

  void restore() {
    for (; !removed_.empty(); removed_.pop_back())
      if (model_.workloads[removed_.back()].gone) put_back(removed_.back());
  }

 private:
  Model& model_;
  std::vector<WorkloadId> removed_;  // and those that were put back since
};

}  // namespace sluice
