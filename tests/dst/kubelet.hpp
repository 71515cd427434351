// Kubelet: where pods run while the host lives and dies: it starts what is bound and published,
// asks what is being deleted to end, which some do at once and some late, and tells the host late,
// doubled and out of order.
//
// It is the witness: its processes outlive the host, as real ones do, and what they did cannot be
// undone. A process is known by the UID of its pod and started at most once. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/objects/controller.hpp"
#include "host/store/live_store.hpp"
#include "tests/dst/object_trees.hpp"

namespace sluice::host::test {

struct Process {
  enum class State : std::uint8_t { kRuns, kSucceeded, kFailed };
  std::string pod, job, index;  ///< keys of pod and job; the index among the job's pods
  State state = State::kRuns;
  Time ends = 0;       ///< by itself, or after it was asked to
  bool asked = false;  ///< to end
  std::int64_t cpu_milli = 0;
};

class Kubelet {
 public:
  /// Starts and ends what the published view asks for. What must not be goes to `wrong`.
  void look(const LiveStore& store, const api::Scheme& scheme, ObjectTrees& trees, Time now,
            std::vector<std::string>& wrong);
  /// Processes come to their ends.
  void pass(Time now);
  /// The host writes some of what it was told; `draw` says which, and which again.
  void tell(ObjectAccess& objects, std::uint32_t draw);
  /// The same for all of it.
  void tell_all(ObjectAccess& objects);
  /// The host is another one, which asks how all processes are.
  void host_died();

  const std::map<std::string, Process>& processes() const { return processes_; }
  std::size_t running() const;
  /// Thousandths of a CPU that the running pods of each job use.
  std::map<std::string, std::int64_t> in_use() const;

 private:
  void start(const std::string& uid, const boost::json::object& pod, Time now,
             std::vector<std::string>& wrong);
  void end(const std::string& uid, Process::State state);
  void ask_to_end(const std::string& uid, Time now);
  void write(ObjectAccess& objects, const std::string& uid) const;

  std::map<std::string, Process> processes_;  // by UID of the pod
  std::vector<std::string> untold_;           // UIDs
};

}  // namespace sluice::host::test
