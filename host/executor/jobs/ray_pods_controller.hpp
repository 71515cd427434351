// RayPodsController: RayClusters (ray.io/v1) become a head pod and the pods of their worker groups,
// and what becomes of the pods becomes the cluster's status.
//
// A pod that ended is replaced while the cluster is not suspended; pods of groups or replicas that
// are no more are deleted, the youngest first. Belongs to the kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/controllers/jobs/gates_of_new_pods.hpp"
#include "host/executor/jobs/pod_pace.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class RayPodsController final : public Controller {
 public:
  explicit RayPodsController(GatesOfNewPods gates = {}) : gates_(std::move(gates)) {}

  std::string_view name() const override { return "ray-pods"; }
  std::vector<std::string> watches() const override { return {"ray.io/RayCluster", "/Pod"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  GatesOfNewPods gates_;
  PodPace pace_;
};

}  // namespace sluice::host
