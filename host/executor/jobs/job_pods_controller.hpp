// JobPodsController: batch/v1 Jobs become Pods, and what becomes of the Pods becomes the Job's
// status.
//
// What to do is plan_job()'s; this carries it out. All of one step is one transaction. Belongs to
// the kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/controllers/jobs/gates_of_new_pods.hpp"
#include "host/executor/jobs/pod_pace.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class JobPodsController final : public Controller {
 public:
  /// `gates` empty: pods get none but those of their template.
  explicit JobPodsController(GatesOfNewPods gates = {}) : gates_(std::move(gates)) {}

  std::string_view name() const override { return "job-pods"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  GatesOfNewPods gates_;
  PodPace pace_;
};

/// Key of the object of this kind that controls the object, from its stored metadata; empty: none.
std::string key_of_controller(const StoredObject& stored, std::string_view group,
                              std::string_view kind);

/// Adds gates to the spec of a new pod; each name once.
void add_gates(boost::json::object& pod, const std::vector<std::string>& gates);

/// Removes a finalizer; nothing to do is no error.
ApiResult<void> drop_finalizer(ObjectAccess& objects, const api::KindInfo& kind,
                               const std::string& key, std::string_view finalizer);

}  // namespace sluice::host
