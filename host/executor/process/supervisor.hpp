// Supervisor: the host's side of the pods' runners: starts each pod at most once, finds the ones
// that an earlier host started, follows every change of their state, ends them.
//
// The rules (run_record.hpp has the files):
//   - a pod's folder is created, durably, before its runner starts; a folder that exists already
//     means that the pod was started, by this host or an earlier one;
//   - a runner owns the pod once it created owner.json; a second runner leaves. So a pod that an
//     earlier host left without an owner may be started again: of two runners one runs it. And a
//     pod that must not run any more is claimed by the supervisor, which creates the file itself;
//   - an owner that is not running any more and left no end behind: the outcome is unknown, the
//     state becomes Failed with reason ProcessLost, durably, and nothing is run again. So are the
//     pods of a copy of another host's folder (place.hpp), whose processes are that host's.
//
// One thread. fd() becomes readable when poll() has something to say. No zombies are left of
// runners that this process started.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "host/base/files.hpp"
#include "host/executor/process/folder_remover.hpp"
#include "host/executor/process/process_id.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {

struct RunReport {
  std::string uid;
  RunState state;
};

class Supervisor {
 public:
  /// Makes the folders where they are missing. `runner` is the program with its first arguments;
  /// the folder `root` and the UID are appended.
  static Result<std::unique_ptr<Supervisor>> open(const std::filesystem::path& root,
                                                  std::vector<std::string> runner);
  ~Supervisor();  // leaves running pods alone
  /// Where the logs of pods lie that are started from now on; empty: in the pods' folders.
  void put_logs(const std::filesystem::path& folder) { log_folder_ = folder; }
  /// Where the working directories of pods lie that run as a user of their own.
  void put_work(const std::filesystem::path& folder) { work_folder_ = folder; }
  /// Where pods have their control groups; empty: nowhere. Ends what is in groups of pods that are
  /// not known here any more.
  void put_groups(const std::filesystem::path& folder);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Starts the pod unless it runs here or was claimed. False: it was; adopt() tells more. With an
  /// error the pod either did not start, and never will (its state says so), or is as before.
  Result<bool> start(const RunSpec& spec);

  /// UIDs of all pods that have a folder, in order.
  std::vector<std::string> known() const;
  /// Whether a runner runs the pod, or ran it, or it never will: adopt() finds out which.
  bool claimed(const std::string& uid) const;
  /// Watches a pod that was started by an earlier host, and gives its present state; one that
  /// cannot be running any more without having ended is marked as lost.
  /// REQUIRES: its folder exists.
  Result<RunState> adopt(const std::string& uid);

  /// Asks the pod's runner to end it: SIGTERM, and SIGKILL after `grace_seconds`. May be called
  /// again with less. Nothing happens when it is not running.
  Result<void> stop(const std::string& uid, std::int64_t grace_seconds);

  /// Nothing of the pod is known any more; its files, its output included, go by and by. REQUIRES:
  /// not running().
  void forget(const std::string& uid);
  /// What is not removed by now stays, until the next supervisor is there.
  void stop_removals() { remover_.stop(); }
  /// Until the files of all that were forgotten are gone. For tests.
  void wait_for_removals() { remover_.wait(); }

  bool running(std::string_view uid) const { return owners_.contains(std::string(uid)); }
  std::size_t running() const { return owners_.size(); }

  int fd() const { return events_.get(); }
  /// What changed since the last call: the latest state per pod. Never blocks.
  std::vector<RunReport> poll();

 private:
  struct Owner {
    Fd process;  // readable when it ended; a runner that was just started, or adopted
  };

  Supervisor(std::filesystem::path root, std::vector<std::string> runner);
  Result<void> settle();
  Result<void> watch_folders();
  Result<int> spawn(const RunSpec& spec, const RunPaths& paths) const;
  void follow(const std::string& uid, Owner owner);
  Result<RunState> read_state(const std::string& uid) const;
  Result<RunState> mark_lost(const std::string& uid, const std::string& why);
  std::optional<Fd> running_owner(const std::string& uid) const;
  void runner_ended(const std::string& uid);
  void read_notices(std::vector<std::string>& uids);
  void reap(std::vector<std::string>& uids);

  void end_group_of(const std::string& uid) const;
  void remove_left(const std::string& uid);

  std::filesystem::path root_, log_folder_, work_folder_, group_folder_;
  std::vector<std::string> runner_;
  Fd events_;   // epoll
  Fd notices_;  // inotify on states/
  std::unordered_map<std::string, Owner> owners_;
  std::unordered_map<int, std::string> by_fd_;
  std::unordered_map<std::string, RunState> unwritten_;  // lost ones whose state cannot be kept
  FolderRemover remover_;
};

}  // namespace sluice::host
