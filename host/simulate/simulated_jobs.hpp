// SimulatedJobs: the side of a machine where jobs run, in a simulation, where nothing is started:
// the pods of jobs (job_pods.hpp), the UIDs of what controllers make, and the ends that a Timeline
// or a runtime brings about.
//
//   SimulatedJobs jobs(rules.scheme);
//   Machine machine(config, rules, {.store = …, .ids = jobs, .pods = jobs.pods(), …});
//   jobs.join(machine);
//
// A job that came without a UID gets one made of its key and its time, so that its workload has the
// same name wherever the job stands; that workload gets the UID of the job's place in the input, so
// that ties between jobs and plain workloads end in the order of the documents. Belongs to the
// machine's thread.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/machine/machine.hpp"
#include "host/simulate/job_pods.hpp"
#include "host/writes/ids.hpp"

namespace sluice::host {

/// Reports workloads that come and go, whichever writer made them; while they exist.
class WorkloadWatch final : public Controller {
 public:
  using Observer = std::function<void(const std::string& key, bool created)>;

  void observe(Observer observer) { observer_ = std::move(observer); }

  std::string_view name() const override { return "workload-watch"; }
  std::vector<std::string> watches() const override { return {"kueue.x-k8s.io/Workload"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool follows(const StoredObject&) const override { return false; }
  Result<Time> reconcile(const WorkKey&, ObjectAccess&) override { return kNever; }

 private:
  Observer observer_;
};

class SimulatedJobs final : public IdSource {
 public:
  explicit SimulatedJobs(const api::Scheme& scheme) : pods_(scheme) {}

  /// For the machine's edges.
  AddPods pods() {
    return [this](ControllerLoop& loop, const GatesOfNewPods&) {
      loop.add(watch_);
      loop.add(pods_);
    };
  }
  /// `machine` must outlive this. `judges`: jobs with a runtime that is none are refused.
  void join(Machine& machine, bool judges = true);
  void observe(WorkloadWatch::Observer observer) { watch_.observe(std::move(observer)); }

  /// The UID of a job that has none. Its first workload gets `workload_uid`.
  std::string uid_of_job(const ObjectRef& job, Time now, std::string workload_uid);

  static bool manages(const api::KindInfo& kind);
  /// The job that owns the workload, if it is there.
  std::optional<ObjectRef> job_of(const api::Workload& workload) const;
  /// A job of any kind with that key.
  std::optional<ObjectRef> find(std::string_view key) const;
  /// Of the jobs with that key that are there, in the order in which they came.
  std::vector<WorkloadId> workloads_of(std::string_view job) const;
  std::optional<Duration> runtime(const ObjectRef& job) const;
  /// When its pods started; nullopt: none run.
  std::optional<Time> started(const ObjectRef& job) const;
  /// Its pods succeed. False when the kind has no end of its own, so that its workload has to end.
  bool complete(const ObjectRef& job);
  /// The pods of an admitted workload have succeeded. An error says why it cannot end now.
  Result<void> end(const std::string& workload);
  /// All pods of an admitted workload are ready.
  void report_ready(WorkloadId workload);

  // IdSource: UIDs that are not in use.
  std::string uid(Time now) override;
  std::string uid_for(const api::KindInfo& kind, const boost::json::object& object,
                      Time now) override;
  std::string suffix() override { return counted_.suffix(); }

 private:
  ObjectWriter& objects() const { return machine_->objects(); }

  JobPods pods_;
  WorkloadWatch watch_;
  RuntimePolicy runtimes_;
  CountingIds counted_;
  Machine* machine_ = nullptr;
  std::map<std::string, std::string, std::less<>> kept_;  // UID of a job → of its first workload
};

}  // namespace sluice::host
