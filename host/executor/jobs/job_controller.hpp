// JobController: batch/v1 Jobs become Pods, and what becomes of the Pods becomes the Job's status.
//
// What to do is plan_job()'s; this carries it out. All of one step is one transaction. Belongs to
// the kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/controllers/controller.hpp"
#include "host/executor/jobs/job_plan.hpp"
#include "host/executor/jobs/pod_gates.hpp"

namespace sluice::host {

class JobController final : public Controller {
 public:
  /// `gates` nullptr: pods get no gates, and those there are stay.
  explicit JobController(PodGates* gates = nullptr) : gates_(gates) {}

  std::string_view name() const override { return "job"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<std::string>& keys) override;
  Result<Time> reconcile(const std::string& key, ObjectAccess& objects) override;

 private:
  PodGates* gates_;
};

/// Key of the object of this kind that controls the object, from its stored metadata; empty: none.
std::string key_of_controller(const StoredObject& stored, std::string_view group,
                              std::string_view kind);

/// Removes a finalizer; nothing to do is no error.
ApiResult<void> drop_finalizer(ObjectAccess& objects, const api::KindInfo& kind,
                               const std::string& key, std::string_view finalizer);

}  // namespace sluice::host
