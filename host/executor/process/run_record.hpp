// RunSpec and RunState: what a pod's processes are to be, and what became of them, as both the host
// and the pod's runner write and read them on disk.
//
// The layout under the executor's folder:
//
//   pods/UID/spec.json        which containers there are; its folder is created before anything
//                             starts. What they run, and with which variables, goes from the host
//                             to the runner in memory only: there may be Secrets in it
//   pods/UID/owner.json       the runner (process, its start, boot): created exactly once
//   pods/UID/stop             seconds of grace, once the pod is to end
//   pods/UID/work             where its processes begin; a link to elsewhere where they run as a
//                             user of their own, who may not enter these folders
//   pods/UID/logs/NAME/N.log  output of container NAME, N-th start; of the last two. `logs` may be
//                             a link to where logs lie
//   logs-full                 while it is there nothing is added to any log
//   place                     which folder this is, to know a copy of it (place.hpp)
//   states/UID                the present RunState; replaced as a whole, so that one watch of one
//                             folder sees all pods
//
// Plain values; the functions are pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/executor/process/control_group.hpp"

namespace sluice::host {

enum class RestartPolicy : std::uint8_t { kNever, kOnFailure, kAlways };

struct ContainerSpec {
  std::string name;
  bool init = false;  ///< runs to success before the next one starts
  std::vector<std::string> argv;
  std::vector<std::string> env;  ///< `NAME=value`, all of it
  std::string working_dir;       ///< empty: the pod's own folder
  bool no_new_privileges = false;
  GroupLimits limits = {};  ///< held where the pod has a group
};

struct RunSpec {
  std::string uid;
  std::string pod;                        ///< namespace/name, for people
  std::vector<ContainerSpec> containers;  ///< init containers first, in order
  RestartPolicy restart = RestartPolicy::kAlways;
  std::int64_t grace_seconds = 30;
  std::int64_t first_backoff_ms = 10'000;  ///< before the second start; doubles up to five minutes
  std::int64_t log_bytes = 0;              ///< for the output of all containers; 0: any
  std::int64_t log_keep_free = 0;          ///< see LogLimits
  std::string group;                       ///< its control group; empty: it has none
  std::int64_t user = 0, group_id = 0;     ///< of its processes; 0: those of the host
  bool all_calls = false;                  ///< of the system; else not those of system_calls.hpp
  bool own_memory = false;                 ///< that is shared by name; else the machine's
};

struct ContainerRun {
  enum class State : std::uint8_t { kWaiting, kRunning, kTerminated };
  State state = State::kWaiting;
  std::string reason;   ///< kWaiting: CrashLoopBackOff, …; kTerminated: Completed, Error, …
  std::string message;  ///< for people; may be empty
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  Time started = 0, finished = 0;  ///< 0: not yet
  std::int64_t pid = 0;
  GroupUse use = {};  ///< kTerminated
};

struct ContainerState {
  std::string name;
  bool init = false;
  ContainerRun now;
  std::optional<ContainerRun> last;  ///< how the run before ended
  std::int64_t restarts = 0;
  Time first_started = 0;  ///< of its first run; 0: there was none
  GroupUse used = {};      ///< of all runs that have ended
};

enum class RunPhase : std::uint8_t { kStarting, kRunning, kSucceeded, kFailed };

struct RunState {
  RunPhase phase = RunPhase::kStarting;
  std::string reason;  ///< of kFailed where it is not a container's: ProcessLost, …
  std::string message;
  std::vector<ContainerState> containers;

  bool ended() const { return phase == RunPhase::kSucceeded || phase == RunPhase::kFailed; }
  bool operator==(const RunState& other) const;
};

/// Where the files of a pod are.
struct RunPaths {
  RunPaths(const std::filesystem::path& root, std::string_view uid);
  std::filesystem::path folder, spec, owner, stop, logs, state, work, logs_full;
  /// Of the `start`-th run of a container, from 0.
  std::filesystem::path log(std::string_view container, std::int64_t start) const;
};

/// Where a runner finds its specification.
inline constexpr int kSpecificationFd = 3;

/// The state before anything was started.
RunState fresh_state(const RunSpec& spec);

/// The specification without what may be secret.
RunSpec outline_of(RunSpec spec);

std::string to_text(const RunSpec& spec);
Result<RunSpec> parse_run_spec(std::string_view text);
std::string to_text(const RunState& state);
Result<RunState> parse_run_state(std::string_view text);

}  // namespace sluice::host
