// DeclaredPodsController: jobs of kinds that a page declares become the pods of their pod sets, and
// what becomes of the pods becomes the job's status, by the page.
//
// Each pod has an index within its pod set; of more pods than may run at a time the next ones are
// made as others succeed. A kind that ends: a pod that succeeded is done, one
// that failed ends the job, and so do all pods of the pod sets that count; what runs then is
// removed. A kind that does not end: pods that ended are replaced. Belongs to the kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/controllers/jobs/gates_of_new_pods.hpp"
#include "host/executor/jobs/pod_pace.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

/// The pod set of a pod, in its labels.
inline constexpr std::string_view kDeclaredPodSet = "sluice.dev/pod-set";

class DeclaredPodsController final : public Controller {
 public:
  explicit DeclaredPodsController(const api::Scheme& scheme, GatesOfNewPods gates = {});

  /// No page declares anything: there is nothing to do.
  bool idle() const { return kinds_.empty(); }

  std::string_view name() const override { return "declared-pods"; }
  std::vector<std::string> watches() const override;
  /// Keys are `GROUP/KIND NAMESPACE/NAME`.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  std::vector<const api::KindInfo*> kinds_;
  GatesOfNewPods gates_;
  PodPace pace_;
};

}  // namespace sluice::host
