// EndsController: where pods take their time to end, an evicted workload keeps its quota until its
// job has stopped: suspended, and without active pods, or gone. This tells the engine of it.
//
// Whoever stops the job (JobController) does not wait for that, and nobody else has to: it follows
// from the objects alone, so a restart loses nothing. Kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/controllers/jobs/waits.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class EndsController final : public Controller {
 public:
  explicit EndsController(const api::Scheme& scheme);

  std::string_view name() const override { return "ends-of-evictions"; }
  std::vector<std::string> watches() const override;
  /// Keys are those of workloads.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  const api::KindInfo* workloads_;
  std::vector<const api::KindInfo*> jobs_;
  Waits<std::string, ObjectRef> ending_;  // workloads, for the job that is to stop
};

}  // namespace sluice::host
