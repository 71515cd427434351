// ControllerSetup: the controllers of jobs, checks, queues and retention, made and tied to a
// machine.
//
// They are added in three steps, because the controllers of pods stand between: jobs first, so that
// statuses come last. Belongs to the kernel's thread; must outlive the loop's use of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/config/config.hpp"
#include "host/controllers/checks/check_controller.hpp"
#include "host/controllers/class_priority.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/controllers/jobs/ends.hpp"
#include "host/controllers/jobs/gates_of_new_pods.hpp"
#include "host/controllers/jobs/in_use.hpp"
#include "host/controllers/jobs/job_controller.hpp"
#include "host/controllers/jobs/job_kinds.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/controllers/jobs/orphans.hpp"
#include "host/controllers/jobs/pod_gates.hpp"
#include "host/controllers/status/decision_events.hpp"
#include "host/controllers/status/queue_status.hpp"
#include "host/controllers/status/quota_in_use.hpp"
#include "host/controllers/status/retention.hpp"
#include "host/kernel/kernel.hpp"
#include "host/writes/object_writer.hpp"

namespace sluice::host {

class ControllerSetup {
 public:
  /// All must outlive it. `pages`, `other_pages`: as JobKindController takes them.
  ControllerSetup(const Configuration& config, const hooks::HostHooks& hooks,
                  CheckControllers& checks, Kernel& kernel, ObjectWriter& objects,
                  const JobPages& pages, std::function<void()> other_pages)
      : policy_(config.managed_jobs),
        gates_(hooks.pod_gate, hooks.plugins),
        jobs_(kernel.scheme(), {hooks.job_mapping, hooks.plugins}, config.managed_jobs),
        class_priorities_(kernel.scheme(), kernel.engine()),
        in_use_(kernel.scheme()),
        orphans_(kernel.scheme()),
        ends_(kernel.scheme()),
        job_kinds_(kernel.scheme(), pages, std::move(other_pages)),
        lifting_(kernel.scheme(), gates_),
        checks_(kernel.scheme(), kernel.engine(), checks),
        statuses_(kernel.scheme(), kernel.engine(), config.engine.fair_sharing),
        quota_in_use_(kernel.scheme(), kernel.engine()),
        workloads_(kernel.scheme(), config.retention),
        old_events_(kernel.scheme(), config.store.limits.events),
        decisions_(kernel.scheme(), kernel.engine(), objects) {
    objects.add_policy(job_kind_policy_);
    objects.add_policy(policy_);
  }

  void add_jobs(ControllerLoop& loop) {
    loop.add(jobs_);
    loop.add(class_priorities_);
    loop.add(in_use_);
    loop.add(orphans_);
    if (gates_.any()) loop.add(lifting_);
  }
  /// Evicted workloads keep their quota until the pods of their jobs have ended, which is seen
  /// here.
  void add_ends(ControllerLoop& loop) { loop.add(ends_); }
  void make_pods_here() { jobs_.make_pods_here(); }
  /// A job that is deleted, made smaller or changed keeps its quota until its pods have ended, as
  /// their objects tell. Before add_jobs().
  void hold_for_pods(ObjectWriter& objects) {
    jobs_.hold_for_pods();
    in_use_.watch_pods();
    ends_.watch_pods();
    objects.add_policy(in_use_policy_);
  }
  void add_checks(ControllerLoop& loop) { loop.add(checks_); }
  /// What only clients need: statuses of queues, and an end of what is old.
  void add_upkeep(ControllerLoop& loop, ObjectWriter& objects) {
    if (!job_kinds_.idle()) loop.add(job_kinds_);
    loop.add(quota_in_use_);
    objects.hold([this](const ObjectRef& ref) { return quota_in_use_.held_by(ref); });
    loop.add(workloads_);
    loop.add(old_events_);
    loop.add(statuses_);
  }
  DecisionObserver& decision_events() { return decisions_; }

  GatesOfNewPods gates_of_new_pods() {
    return [this](const ObjectRef& job, const ObjectAccess& objects) {
      return gates_.gates_of_new_pod(job, objects);
    };
  }

 private:
  JobKindPolicy job_kind_policy_;
  JobPolicy policy_;
  InUsePolicy in_use_policy_;
  PodGates gates_;
  JobController jobs_;
  ClassPriorityController class_priorities_;
  InUseController in_use_;
  OrphanController orphans_;
  EndsController ends_;
  JobKindController job_kinds_;
  PodGateController lifting_;
  CheckController checks_;
  QueueStatusController statuses_;
  QuotaInUseController quota_in_use_;
  WorkloadRetention workloads_;
  EventRetention old_events_;
  DecisionEvents decisions_;
};

}  // namespace sluice::host
