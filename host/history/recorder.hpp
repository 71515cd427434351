// HistoryRecorder: keeps the file of runs and quotas up with the store.
//
// It follows what is published, as a watch does, on a thread of its own: nothing of it runs where
// decisions are made, what it has not read yet waits in the store's history, and what falls out of
// that is made up from the objects as they are. A pass writes what came as one transaction, with
// the versions up to which it has read. start(), stop() and catch_up() from any thread; stop()
// once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "host/history/history_file.hpp"
#include "host/history/quota_log.hpp"
#include "host/history/run_log.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

struct HistoryKeep {
  Duration time = 0;       ///< of a run, after its end
  std::int64_t bytes = 0;  ///< of the file
};

/// What metrics show of it.
struct HistoryState {
  std::uint64_t written = 0;  ///< rows, by this process
  std::uint64_t made_up = 0;  ///< how often the history of the store did not last
  std::int64_t bytes = 0;     ///< of the file
  std::string failure;        ///< why nothing is written; empty: it is
};

class HistoryRecorder {
 public:
  /// `store` and `scheme` must outlive it. `name`: of this store, whose versions are another's when
  /// it is another name; empty: its namespace kube-system tells.
  HistoryRecorder(std::unique_ptr<HistoryFile> file, LiveStore& store, const api::Scheme& scheme,
                  std::function<Time()> clock, HistoryKeep keep, std::string name = {});
  ~HistoryRecorder();  // as stop()

  void start();
  /// Writes what is published by now, and ends the thread.
  void stop();

  /// Waits until everything that is published now is in the file; false: it took longer.
  bool catch_up(std::chrono::milliseconds most);

  HistoryState state() const;

 private:
  void loop();
  bool wait_for_work();
  void look();
  Result<void> pass();
  Result<void> place_cursors();
  Result<void> read_all();
  void take_changes(const std::vector<Change>& changes);
  void take_change(const Change& change, bool anew);
  void take_pod(const StoredObject& pod);
  void take_quotas(const std::vector<Change>& changes, bool of_cohorts);
  Result<void> read_quotas(std::uint64_t version, Millis seen);
  WorkloadFacts facts_of(const StoredObject& workload) const;
  Result<void> write(std::uint64_t workloads, std::uint64_t pods);
  void forget_old();
  Millis now() const { return to_millis(clock_()); }

  const std::unique_ptr<HistoryFile> file_;
  LiveStore& store_;
  const api::KindInfo& workloads_;
  const api::KindInfo& pods_;
  const api::KindInfo& queues_;
  const api::KindInfo& cohorts_;
  const api::KindInfo& namespaces_;
  const std::function<Time()> clock_;
  const HistoryKeep keep_;
  const std::string name_;

  // of the thread, once it is there
  RunLog log_;
  QuotaLog quotas_;
  LiveStore::Cursor workload_cursor_, pod_cursor_, queue_cursor_, cohort_cursor_;
  bool read_all_ = false;                              // as of where the cursors began
  std::unordered_map<std::string, std::string> gone_;  // key → UID of workloads that went
  std::deque<std::string> gone_order_;
  std::chrono::steady_clock::time_point forget_at_{};

  mutable std::mutex mutex_;
  std::condition_variable work_, done_;
  bool woken_ = true, hurry_ = false, stopping_ = false;  // guarded by mutex_, as the rest
  std::uint64_t read_up_to_ = 0;
  HistoryState state_;
  std::vector<std::unique_ptr<LiveStore::Subscription>> subscriptions_;
  std::thread thread_;
};

}  // namespace sluice::host
