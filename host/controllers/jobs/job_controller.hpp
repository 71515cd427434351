// JobController: keeps jobs and their workloads in line.
//
// A job that names a queue has workloads (one, unless a plugin maps it otherwise; mapping.hpp); it
// runs exactly while the workload that it follows is admitted, with the node selectors of that
// admission, and it starts again only when the pods of its last run have ended. When it ends, its
// workloads are finished. The workload learns from the job which pods are ready and which ended.
// All of it follows from the objects alone, so a restart loses nothing. Kernel's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/controllers/jobs/job_view.hpp"
#include "host/controllers/jobs/mapping.hpp"
#include "host/controllers/jobs/pod_waits.hpp"
#include "host/controllers/jobs/start_info.hpp"
#include "host/controllers/jobs/waits.hpp"
#include "host/objects/controller.hpp"
#include "host/objects/managed_jobs.hpp"

namespace sluice::host {

class JobController final : public Controller {
 public:
  /// Kinds that `scheme` does not know are left out. Jobs without a queue that are `managed` get a
  /// workload too, which waits for a queue.
  JobController(const api::Scheme& scheme, MappingHooks mapping, ManagedJobs managed = {});
  /// The host makes the pods: jobs whose pods only the operator of their kind makes are held back.
  void make_pods_here() { makes_pods_ = true; }
  /// Quota is held until pods have ended, as their objects tell.
  void hold_for_pods() { holds_for_pods_ = true; }

  std::string_view name() const override { return "jobs"; }
  std::vector<std::string> watches() const override;
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool follows(const StoredObject& workload) const override;
  void loaded(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  /// Jobs without a workload, and those whose workloads are a plugin's: what it plans is rebuilt by
  /// looking.
  void resumed(const ObjectChange& change, bool owns, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  using Done = Result<void>;

  Done keep_in_line(JobView& view, ObjectAccess& objects);
  Done end_with_quota(const JobView& view, ObjectAccess& objects);
  Result<bool> let_deleted_go(JobView& view, ObjectAccess& objects);
  Done end_workloads(JobView& view, const api::JobEnd& end, ObjectAccess& objects);
  Done follow_prebuilt(JobView& view, ObjectAccess& objects);
  Done adopt_prebuilt(JobView& view, boost::json::object workload, ObjectAccess& objects);
  Done carry_out(JobView& view, const MappingPlan& plan, ObjectAccess& objects);
  Done create(JobView& view, const hooks::NewJobWorkload& wanted, ObjectAccess& objects);
  Done recreate(JobView& view, ObjectAccess& objects);
  Done remove(const WorkloadOfJob& workload, ObjectAccess& objects);
  bool has_to_end(const JobView& view) const;
  Done write_pod_sets(WorkloadOfJob& workload, boost::json::array pod_sets, ObjectAccess& objects);
  Done rewrite_pod_sets(JobView& view, WorkloadOfJob& workload, ObjectAccess& objects);
  Done resize(JobView& view, WorkloadOfJob& workload, ObjectAccess& objects);
  Done follow(JobView& view, WorkloadOfJob& speaker, ObjectAccess& objects);
  Done hold_in_use(WorkloadOfJob& speaker, ObjectAccess& objects);
  Done follow_admitted(JobView& view, WorkloadOfJob& speaker, ObjectAccess& objects);
  Done sync_wishes(JobView& view, WorkloadOfJob& speaker, ObjectAccess& objects);
  Done leave_queue(JobView& view, const char* why, ObjectAccess& objects);
  Done follow_class(JobView& view, WorkloadOfJob& workload, ObjectAccess& objects);
  void await_class(const JobView& view, const std::string& why, ObjectAccess& objects);
  Done start(JobView& view, WorkloadOfJob& speaker, const StartInfo& info, ObjectAccess& objects);
  Done forget_start(const JobView& view, ObjectAccess& objects);
  Done stop(JobView& view, std::string_view message, ObjectAccess& objects);
  Done give_back(JobView& view, ObjectAccess& objects);
  Done report_pods(const JobView& view, const WorkloadOfJob& speaker, ObjectAccess& objects);
  Done hold(JobView& view, std::string_view reason, const std::string& message,
            ObjectAccess& objects);

  MappingHooks mapping_;
  ManagedJobs managed_;
  const api::KindInfo* workload_kind_;
  std::vector<const api::KindInfo*> kinds_;  // of jobs
  JobReader reader_;
  /// Jobs that wait for something that does not exist: a prebuilt workload (by key), a class.
  Waits<WorkKey, std::string> waiting_for_workload_;
  std::set<WorkKey> waiting_for_class_;
  PodWaits shrinking_;                     ///< jobs whose workloads have to become smaller
  std::map<WorkKey, std::string> missed_;  ///< and for which of them an event says so already
  std::set<WorkKey> mapped_;  ///< jobs whose workloads a plugin plans; rebuilt by looking
  bool makes_pods_ = false;
  bool holds_for_pods_ = false;
  std::string creating_;  ///< the workload that is being made, without a plugin's plan
};

}  // namespace sluice::host
