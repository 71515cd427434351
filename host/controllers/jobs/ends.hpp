// EndsController: where pods take their time to end, an evicted workload keeps its quota until its
// job has stopped: suspended, and without active pods, or gone. This tells the engine of it.
//
// Whoever stops the job (JobController) does not wait for that, and nobody else has to: it follows
// from the objects alone, so a restart loses nothing. Kernel's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/controllers/jobs/names.hpp"
#include "host/controllers/jobs/pod_waits.hpp"
#include "host/controllers/jobs/waits.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class EndsController final : public Controller {
 public:
  explicit EndsController(const api::Scheme& scheme);
  /// The host makes the pods, and their objects tell when they have ended: also those of a job that
  /// is deleted, or over, whose status tells nothing of them any more.
  void watch_pods() { watches_pods_ = true; }

  std::string_view name() const override { return "ends-of-evictions"; }
  std::vector<std::string> watches() const override;
  /// Keys are those of workloads.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  bool has_stopped(const JobInControl& job, const ObjectAccess& objects) const;

  const api::KindInfo* workloads_;
  std::vector<const api::KindInfo*> jobs_;
  bool watches_pods_ = false;
  PodWaits for_pods_;                     // workloads
  Waits<std::string, ObjectRef> ending_;  // workloads, for the job that is to stop
};

}  // namespace sluice::host
