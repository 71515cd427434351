// LocalExecutor: the Executor that runs pods as processes of this machine.
//
// One thread does everything: it follows the published pods, starts, ends and forgets their runs
// through the Supervisor, and posts what it learned to the KernelThread. Starting a process is what
// takes long, so between a few starts it looks at all else. Nothing else touches its state; stop()
// and running() may be called from any thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "host/executor/executor.hpp"
#include "host/executor/pod_plan.hpp"
#include "host/executor/pod_reports.hpp"
#include "host/executor/pod_users.hpp"
#include "host/executor/process/supervisor.hpp"
#include "host/executor/start_queue.hpp"

namespace sluice::host {

class LocalExecutor final : public Executor {
 public:
  LocalExecutor(const LocalExecutorConfig& config, std::unique_ptr<Supervisor> supervisor,
                LiveStore& store, const api::Scheme& scheme, KernelThread& kernel);
  ~LocalExecutor() override;

  Result<void> start();
  void stop() override;
  void keep_pods() override { keep_pods_ = true; }
  const LogSource& logs() const override { return logs_; }
  UsageMeter& usage() override { return *usage_; }
  std::size_t running() const override { return running_; }

 private:
  /// A pod that was started, now or by an earlier host.
  struct Run {
    std::string key;
    RunState state;
    bool gone = false;                  ///< the pod exists no more: forget the run when it ended
    std::optional<std::int64_t> grace;  ///< asked to end, with so many seconds
    std::optional<Time> deadline;
    bool deadline_over = false;
  };

  void find_groups();
  Result<void> make_log_folder() const;
  void loop();
  void take_over();
  void take_changes();
  void consider(const StoredObject& record);
  void start_some();
  void begin(const std::string& uid, const boost::json::object& pod);
  std::string ignored_of(const boost::json::object& pod, const ProcessUser& as) const;
  void end(const std::string& uid, Run& run, std::int64_t grace_seconds);
  void removed(const StoredObject& record);
  void forget(const std::string& uid);
  void take_reports();
  void learned(const std::string& uid, RunState state);
  void check_deadlines();
  void try_again();
  void check_logs();
  void end_all();
  bool is_mine(const boost::json::object& pod) const;
  bool is_lost(const boost::json::object& pod) const;
  int timeout_ms() const;

  LocalExecutorConfig config_;
  std::unique_ptr<Supervisor> supervisor_;
  LiveStore& store_;
  const api::KindInfo& pods_;
  const api::KindInfo* nodes_;
  const api::KindInfo* config_maps_;
  const api::KindInfo* secrets_;
  PodReports reports_;
  FileLogs logs_;
  PodSources sources_;
  std::filesystem::path groups_;  // of pods; empty: they have none
  PodUsers users_;
  std::unique_ptr<UsageMeter> usage_;

  Fd wake_;  // eventfd: something was published, or the end
  LiveStore::Cursor cursor_;
  std::unique_ptr<LiveStore::Subscription> subscription_;
  std::unordered_map<std::string, Run> runs_;  // by UID
  StartQueue to_start_;
  std::map<std::string, std::string> waiting_;  // UID → key: could not be planned yet
  Duration try_again_ = 0;  // of the clock that only goes forward, as check_logs_
  LogBudget log_budget_;
  Duration check_logs_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> keep_pods_ = false;
  std::atomic<std::size_t> running_ = 0;
  std::thread thread_;
};

}  // namespace sluice::host
