// InUse: a Workload with the finalizer kueue.x-k8s.io/resource-in-use, which Kueue puts on each one
// that it makes, and a host that makes the pods of jobs, too, keeps its quota after it was deleted
// until nothing runs for it any more. Here that is when it has ended, or no job controls it and
// none of that job's pods runs; of a job that is there the JobController decides.
//
// Kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/controllers/jobs/pod_waits.hpp"
#include "host/objects/controller.hpp"
#include "host/writes/policy.hpp"

namespace sluice::host {

inline constexpr std::string_view kInUseFinalizer = "kueue.x-k8s.io/resource-in-use";

/// Is this Workload deleted, and kept by the finalizer?
bool waits_for_pods_to_end(const boost::json::object& workload);
/// Removes the finalizer, of any kind of object.
ApiResult<void> release(boost::json::object object, ObjectAccess& objects);

/// Users do not take the finalizer off a Workload that holds quota.
class InUsePolicy final : public WritePolicy {
 public:
  bool wants(const api::KindInfo& kind) const override;
  void creating(const api::KindInfo&, boost::json::object&, const ObjectReader&, bool,
                std::vector<api::Problem>&) const override {}
  void updating(const api::KindInfo& kind, boost::json::object& object,
                const boost::json::object& old, const ObjectReader& objects, bool by_system,
                std::vector<api::Problem>& problems) const override;
};

class InUseController final : public Controller {
 public:
  explicit InUseController(const api::Scheme& scheme);
  /// The pods of a job are objects here, and tell when the last of them has ended.
  void watch_pods() { watches_pods_ = true; }

  std::string_view name() const override { return "workloads-in-use"; }
  std::vector<std::string> watches() const override;
  /// Keys are those of workloads, or name the UID of a job that goes, or that is gone.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  /// What it reads of a status changes with its job, or with its pods.
  bool follows(const StoredObject& workload) const override {
    static_cast<void>(workload);
    return false;
  }
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  bool may_go(const WorkKey& workload, const boost::json::object& object,
              const ObjectAccess& objects);

  const api::KindInfo* workloads_;
  std::vector<const api::KindInfo*> jobs_;
  bool watches_pods_ = false;
  PodWaits waiting_;  // workloads
};

}  // namespace sluice::host
