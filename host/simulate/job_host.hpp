// JobHost: the part of a host that manages jobs, inside a simulation: the same controllers, writing
// through the same ObjectWriter, with simulated pods (job_pods.hpp) in place of an executor.
//
// Made only when the input holds jobs; it then is the kernel's listener. Jobs are written through
// it, all other objects as without it. A job that came without a UID gets one made of its key and
// its time, so that its workload has the same name wherever the job stands; that workload gets the
// UID of the job's place in the input, so that ties between jobs and plain workloads end in the
// order of the documents. Belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "host/controllers/checks/check_controller.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/controllers/jobs/job_controller.hpp"
#include "host/controllers/jobs/job_policy.hpp"
#include "host/controllers/plugin_wiring.hpp"
#include "host/kernel/kernel.hpp"
#include "host/kernel/object_index.hpp"
#include "host/simulate/job_pods.hpp"
#include "host/writes/ids.hpp"
#include "host/writes/object_writer.hpp"

namespace sluice::host {

/// UIDs that nobody has yet.
class SimulationIds final : public IdSource {
 public:
  explicit SimulationIds(const ObjectIndex& index) : index_(index) {}
  std::string uid(Time now) override;
  std::string suffix() override { return counted_.suffix(); }

 private:
  const ObjectIndex& index_;
  CountingIds counted_;
};

/// Gives a job's first workload the UID that was kept for it.
class WorkloadUids final : public WritePolicy {
 public:
  explicit WorkloadUids(const ObjectIndex& index) : index_(index) {}
  void keep(const std::string& job_uid, std::string workload_uid) {
    kept_[job_uid] = std::move(workload_uid);
  }
  bool wants(const api::KindInfo& kind) const override;
  void creating(const api::KindInfo& kind, boost::json::object& object, const ObjectAccess& objects,
                bool by_system, std::vector<api::Problem>& problems) override;
  void updating(const api::KindInfo&, boost::json::object&, const boost::json::object&,
                const ObjectAccess&, bool, std::vector<api::Problem>&) override {}

 private:
  const ObjectIndex& index_;
  std::map<std::string, std::string, std::less<>> kept_;
};

class JobHost final : public KernelListener {
 public:
  /// All must outlive it. The kernel listens to it from now on.
  JobHost(Kernel& kernel, const hooks::Hooks& hooks, PluginSet& plugins, bool manage_all);

  /// Told of workloads that come and go, whoever writes them; while they exist.
  void observe(std::function<void(const std::string& key, bool created)> observer) {
    observer_ = std::move(observer);
  }

  static bool manages(const api::KindInfo& kind);

  /// Creates or updates a job as kubectl apply does: what did not change since it was last applied
  /// stays as it is now. `workload_uid` is for the first workload of a job that has no UID. An
  /// error names fields.
  Result<void> apply(PreparedObject&& object, std::string workload_uid);
  /// REQUIRES: the job exists.
  Result<void> patch(const api::KindInfo& kind, const std::string& key,
                     const boost::json::value& merge, bool status);
  void remove(const api::KindInfo& kind, const std::string& key);

  /// The job that owns the workload, if it is there.
  std::optional<ObjectRef> job_of(const api::Workload& workload) const;
  /// A job of any kind with that key.
  std::optional<ObjectRef> find(std::string_view key) const;
  std::optional<Duration> runtime(const ObjectRef& job) const;
  /// When its pods started; nullopt: none run.
  std::optional<Time> started(const ObjectRef& job) const;
  /// Its pods succeed. False when the kind has no end of its own, so that its workload has to end.
  bool complete(const ObjectRef& job);
  /// Lets the controllers do all work that is due.
  void settle() { loop_.run(); }

  // KernelListener
  void begin_instant(Time now) override { loop_.begin_instant(now); }
  void changed(const ObjectChange& change) override;
  bool run() override { return loop_.run(); }
  Time next_timer() const override { return loop_.next_timer(); }

 private:
  Kernel& kernel_;
  ObjectIndex index_{ObjectIndex::Uids::kKept};
  SimulationIds ids_;
  ObjectWriter objects_;
  ControllerLoop loop_;
  JobPolicy policy_;
  RuntimePolicy runtimes_;
  WorkloadUids uids_;
  JobController jobs_;
  JobPods pods_;
  CheckController checks_;
  PluginWiring plugins_;
  const api::KindInfo& workloads_;
  std::map<ObjectRef, boost::json::object> applied_;  ///< as it was last applied
  std::function<void(const std::string&, bool)> observer_;
};

}  // namespace sluice::host
