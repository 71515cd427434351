// Pod gates: which scheduling gates a job's new pods get, and lifting them from those that may run
// (pod-gate/1). Without a plugin there are none and nothing is ever asked.
//
// gates_of_new_pod() is for the controllers that create pods; PodGateController lifts. Kernel's
// thread.
#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/controllers/jobs/job_view.hpp"
#include "host/controllers/jobs/names.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class PodGates {
 public:
  /// `hook` may be nullptr; `loaded`: names of the plugins that are there.
  explicit PodGates(hooks::PodGate* hook, std::vector<std::string> loaded = {})
      : hook_(hook), loaded_(std::move(loaded)) {}

  bool any() const { return hook_ != nullptr; }
  /// Names for spec.schedulingGates, beside those of the template. A job that wants other counts
  /// than its admitted workload, which a plugin claims that is not loaded, gets a gate of that
  /// plugin's name: without the plugin it is not known how many pods may run.
  std::vector<std::string> gates_of_new_pod(const ObjectRef& job, const ObjectAccess& objects);

  struct Granted {
    std::vector<api::JobPodSet> pod_sets;
    std::vector<std::optional<std::int32_t>> pods;  ///< by pod set; nullopt: no limit
    std::vector<std::string> gates;                 ///< those that may be lifted
    std::string waits_because;                      ///< a plugin failed: lift nothing
    boost::json::object followed;  ///< the admitted workload that the job runs with; may be empty
  };
  Granted granted(const ObjectRef& job, const ObjectAccess& objects);

 private:
  hooks::PodGate* hook_;
  std::vector<std::string> loaded_;
  JobReader reader_;
};

class PodGateController final : public Controller {
 public:
  /// Both must outlive it.
  PodGateController(const api::Scheme& scheme, PodGates& gates)
      : kinds_(job_kinds(scheme)), gates_(gates) {}

  std::string_view name() const override { return "pod-gates"; }
  std::vector<std::string> watches() const override;
  /// Keys are jobs.
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  /// Those of jobs only.
  bool follows(const StoredObject& workload) const override {
    return !workload.metadata.owners().empty();
  }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  std::vector<const api::KindInfo*> kinds_;  // of jobs
  PodGates& gates_;
  std::set<WorkKey> after_faults_;  // jobs with pods that got a gate because a plugin failed
};

}  // namespace sluice::host
