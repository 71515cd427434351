// OrphanController: a Workload that was made for a job and that nothing owns any more is finished:
// whoever deletes a job and keeps what is below it (`kubectl delete --cascade=orphan`) would leave
// quota held for ever otherwise. What the job started runs on; quota is no longer held for it, as
// with Kueue (FinishOrphanedWorkloads), and nothing keeps it from being deleted any more.
//
// Kernel's thread.
#pragma once

#include <string_view>
#include <vector>

#include "host/objects/controller.hpp"

namespace sluice::host {

class OrphanController final : public Controller {
 public:
  explicit OrphanController(const api::Scheme& scheme);

  std::string_view name() const override { return "workloads-without-owner"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  /// It reads no status.
  bool follows(const StoredObject& workload) const override {
    static_cast<void>(workload);
    return false;
  }
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  const api::KindInfo* workloads_;
};

}  // namespace sluice::host
