// Executor: runs the pods that are bound to a node, and says what becomes of them.
//
// It sees only what is durable (the published view), works on a thread of its own, and reports back
// through the KernelThread. What it does for one pod: it starts it at most once, follows it over
// restarts of the host, ends it when it is deleted or its deadline is over, and keeps its output
// until the pod is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/config/config.hpp"
#include "host/controllers/kernel_thread.hpp"
#include "host/executor/images.hpp"
#include "host/executor/logs.hpp"
#include "host/executor/process/log_budget.hpp"
#include "host/executor/usage_meter.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

struct LocalExecutorConfig {
  std::filesystem::path folder;     ///< for pods; `executor` in the store's folder
  std::vector<std::string> runner;  ///< program and first arguments; empty: this program
  std::vector<std::string> nodes;   ///< nodes; it runs the pods of these; empty: of all
  /// Set when nothing is known after a restart (a store in memory): pods end with the executor.
  bool end_pods_on_stop = false;
  Entrypoints images = {};
  std::filesystem::path log_folder = {};  ///< for pods' output; empty: in `folder`
  LogBudget logs = {};
  bool control_groups = true;  ///< where this machine has them
  JobUsersConfig users = {.mode = JobUsersConfig::Mode::kOff, .work_path = {}};
  bool all_system_calls = false;
  std::int64_t longest_grace_seconds = 600;  ///< of any pod, whatever it and who deletes it say
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// Stops the thread. Pods run on under their runners, unless the configuration says otherwise.
  virtual void stop() = 0;
  /// Before stop(): pods run on in any case, because another executor follows in this process.
  virtual void keep_pods() = 0;
  virtual const LogSource& logs() const = 0;
  virtual UsageMeter& usage() = 0;
  /// Pods whose processes run now. Any thread.
  virtual std::size_t running() const = 0;
};

/// Finds what runs from before, and starts. `store`, `kernel` and `scheme` must outlive it.
Result<std::unique_ptr<Executor>> start_local_executor(const LocalExecutorConfig& config,
                                                       LiveStore& store, const api::Scheme& scheme,
                                                       KernelThread& kernel);

}  // namespace sluice::host
