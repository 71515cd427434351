// InUse: a Workload with the finalizer kueue.x-k8s.io/resource-in-use, which Kueue puts on each one
// that it makes, keeps its quota after it was deleted until nothing runs for it any more. Here that
// is when no job controls it; of a job that is there the JobController decides (its pods end
// first).
//
// Kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/objects/controller.hpp"

namespace sluice::host {

inline constexpr std::string_view kInUseFinalizer = "kueue.x-k8s.io/resource-in-use";

/// Is this Workload deleted, and kept by the finalizer?
bool waits_for_pods_to_end(const boost::json::object& workload);
/// Removes the finalizer, of any kind of object.
ApiResult<void> release(boost::json::object object, ObjectAccess& objects);

class InUseController final : public Controller {
 public:
  explicit InUseController(const api::Scheme& scheme);

  std::string_view name() const override { return "workloads-in-use"; }
  std::vector<std::string> watches() const override;
  /// Keys are those of workloads, or name the uid of a job that goes.
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
  std::vector<const api::KindInfo*> jobs_;
};

}  // namespace sluice::host
