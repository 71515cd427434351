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

/// A job of a job that is queued runs with it, unqueued. The reference has to name that very
/// object, not its namesake; and where all jobs are to be queued, no reference that a user wrote
/// into an object exempts it.
bool has_queued_owner(const boost::json::object& job, const ObjectReader& objects);

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
