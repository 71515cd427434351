// CommitQueue: the writer thread of a store. Takes transactions in order, makes all that wait
// durable with one write of the journal, then publishes them, wakes the watchers of their kinds,
// and calls the committers back.
//
// Invariant: nothing is published before the journal has it, and after a failed write nothing is
// published or acknowledged ever again. Foreign code is called on the writer thread, under no lock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "host/store/change.hpp"
#include "host/store/journal.hpp"
#include "host/store/published.hpp"

namespace sluice::host {

/// The changes that became one transaction of the journal.
struct Commit {
  std::vector<Change> changes;
  std::uint64_t version = 0;  ///< of the last change so far
  std::string fields;         ///< see Journal::write
  std::function<void(const Result<void>&)> done;
};

/// What is woken when a kind changes. `gone` and `running` are guarded by the queue's mutex.
struct Watcher {
  const api::KindInfo* kind = nullptr;
  std::function<void()> wake;
  bool gone = false;
  bool running = false;
};

class CommitQueue {
 public:
  /// `journal` may be null: then everything is as durable as the process. The kinds' names as the
  /// journal has them stay where they are.
  CommitQueue(Journal* journal, Published& published,
              const std::unordered_map<const api::KindInfo*, std::string>& names);
  /// Writes what waits, then ends the thread.
  ~CommitQueue();
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  /// One thread at a time.
  void push(Commit commit);
  /// From now on everything fails with this reason.
  void fail(std::string reason);
  std::string failure() const;
  /// Everything that was pushed is published.
  bool idle() const { return backlog() == 0 && failure().empty(); }
  std::size_t backlog() const { return backlog_.load(std::memory_order_relaxed); }

  std::shared_ptr<Watcher> add_watcher(const api::KindInfo& kind, std::function<void()> wake);
  /// Waits for a running call, unless it is on this thread.
  void remove_watcher(const std::shared_ptr<Watcher>& watcher);

 private:
  void run();
  void process(std::vector<Commit>& batch);
  Result<void> write(const std::vector<Commit>& batch);
  void wake_watchers(const std::vector<Commit>& batch);

  Journal* const journal_;
  Published& published_;
  const std::unordered_map<const api::KindInfo*, std::string>& names_;
  std::atomic<std::size_t> backlog_ = 0;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable waiting_, idle_;
  std::vector<Commit> queue_;
  std::unordered_map<const api::KindInfo*, std::vector<std::shared_ptr<Watcher>>> watchers_;
  std::string failure_;
  bool stopping_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice::host
