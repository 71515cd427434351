// PodController: the end of all pods, those of clients too: a pod that is being deleted and whose
// processes have ended (or that never had a node) is removed, and one whose Job is gone, or goes,
// loses the Job's finalizer at once. Belongs to the kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/objects/controller.hpp"

namespace sluice::host {

class PodController final : public Controller {
 public:
  std::string_view name() const override { return "pod-ends"; }
  std::vector<std::string> watches() const override { return {"/Pod"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;
};

}  // namespace sluice::host
