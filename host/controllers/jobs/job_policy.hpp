// JobPolicy: what queues demand of jobs when they are written: a job with a queue starts suspended,
// a job without one gets the namespace's default queue if there is one, and what decides about a
// running job cannot be changed. What the host put into a job or a pod stays: the node selectors of
// an admission, the gate of a pod that has no quota yet. Any thread.
#pragma once

#include <utility>
#include <vector>

#include "host/objects/managed_jobs.hpp"
#include "host/writes/policy.hpp"

namespace sluice::host {

/// The job says which queue it is for, or which workload is its own.
bool is_queued(const boost::json::object& job);

/// A job of a job that is queued, or of one of that, runs with it, unqueued. The references have to
/// name these very objects, not their namesakes. `managed`: all jobs are to be queued there; then
/// only what a controller made runs with its owner, because no reference that a user wrote into an
/// object may exempt it. A controller is whoever acts as the system, or as a service account of
/// another namespace.
bool runs_with_owner(const boost::json::object& job, const ObjectReader& objects, bool managed);

class JobPolicy final : public WritePolicy {
 public:
  explicit JobPolicy(ManagedJobs managed = {}) : managed_(std::move(managed)) {}

  bool wants(const api::KindInfo& kind) const override;
  void creating(const api::KindInfo& kind, boost::json::object& object, const ObjectReader& objects,
                bool by_system, std::vector<api::Problem>& problems) const override;
  void updating(const api::KindInfo& kind, boost::json::object& object,
                const boost::json::object& old, const ObjectReader& objects, bool by_system,
                std::vector<api::Problem>& problems) const override;

 private:
  ManagedJobs managed_;
};

}  // namespace sluice::host
