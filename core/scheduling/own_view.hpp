// OwnView: the model as one workload may see it.
//
// While it lives, what the workload replaces, the other holders of its unit in its queue, and its
// own earmark do not count (mechanisms 1 and 2, semantics 8). Free of cost for a workload without
// traits or earmark.
#pragma once

#include "core/model/model.hpp"
#include "core/model/removal.hpp"

namespace sluice {

class OwnView {
 public:
  OwnView(Model& model, WorkloadId id, QueueId queue) : model_(model), removal_(model) {
    const WorkloadRecord& w = model.workloads[id];
    if (w.unit != kNone)
      for (const WorkloadId other : model.ledger.holders_of(w.unit, queue))
        if (other != id) removal_.remove(other);
    // What it replaces ends with its admission, wherever that holds quota.
    const WorkloadId replaced = model.replaced_by(w);
    if (replaced != kNone && model.same_root(replaced, queue)) removal_.remove(replaced);
    if (const auto it = model.earmarks.find(id); it != model.earmarks.end()) earmark_ = &it->second;
    if (earmark_) model_.ledger.subtract(earmark_->queue, earmark_->usage);
  }
  OwnView(const OwnView&) = delete;
  OwnView& operator=(const OwnView&) = delete;
  ~OwnView() {
    if (earmark_) model_.ledger.add(earmark_->queue, earmark_->usage);
  }

 private:
  Model& model_;
  Removal removal_;
  const Earmark* earmark_ = nullptr;
};

}  // namespace sluice
