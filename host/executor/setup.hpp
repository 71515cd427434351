// ExecutorSetup: everything that makes pods and runs them, as a host puts it together:
//
//   ExecutorSetup executor(config.executor, scheme, gates);
//   executor.add_controllers(loop);                       // before the kernel loads
//   executor.make_nodes(objects);                         // on the kernel's thread, when it runs
//   executor.start(folder, in_memory, store, scheme, control);
//   … executor.logs() …
//   executor.stop();                                      // before the control loop stops
//
// With `type: none` nothing is bound or run, and Jobs make no pods. Owned by the host's main
// thread.
#pragma once

#include <filesystem>
#include <memory>

#include "host/config/config.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/executor/binder.hpp"
#include "host/executor/executor.hpp"
#include "host/executor/jobs/declared_pods_controller.hpp"
#include "host/executor/jobs/job_pods_controller.hpp"
#include "host/executor/jobs/ray_pods_controller.hpp"
#include "host/executor/nodes.hpp"
#include "host/executor/pod_controller.hpp"

namespace sluice::host {

class ExecutorSetup {
 public:
  ExecutorSetup(const ExecutorConfig& config, const api::Scheme& scheme,
                const GatesOfNewPods& gates = {})
      : config_(config), jobs_(gates), rays_(gates), declared_(scheme, gates) {}

  /// They run in this order: pods of jobs, binding, ends of pods.
  void add_controllers(ControllerLoop& loop);

  /// The Node objects. On the kernel's thread.
  ApiResult<void> make_nodes(ObjectAccess& objects) const;

  /// `folder`: the executor's own; `in_memory`: the store forgets at the end, so pods end with the
  /// host. The others must outlive it. Does nothing with `type: none`.
  Result<void> start(const std::filesystem::path& folder, bool in_memory, LiveStore& store,
                     const api::Scheme& scheme, KernelThread& kernel);
  void stop();
  /// Before stop(), when another host follows in this process: pods run on.
  void keep_pods();

  /// nullptr when nothing is run here.
  const LogSource* logs() const { return executor_ ? &executor_->logs() : nullptr; }
  UsageMeter* usage() const { return executor_ ? &executor_->usage() : nullptr; }
  std::size_t running() const { return executor_ ? executor_->running() : 0; }

 private:
  const ExecutorConfig config_;
  const MachineFacts machine_ = machine_facts();
  JobPodsController jobs_;
  RayPodsController rays_;
  DeclaredPodsController declared_;
  Binder binder_;
  PodController ends_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace sluice::host
