// What the two processes of a container's start tell the pod's runner, through one pipe.
//
// The keeper tells which process is the container's first, that process tells why it could not
// become the program; either may be the first to write. Whoever writes works between fork and
// exec: these calls allocate nothing. The pipe ends when the program runs, or when both are gone.
#pragma once

#include <sys/types.h>

#include <optional>

namespace sluice::host {

/// What a container's first process was about when it failed.
enum class StartStage : int { kSetup, kGroup, kUser, kFolder, kProgram };

struct StartFailure {
  StartStage stage = StartStage::kSetup;
  int error = 0;  ///< an errno
};

/// All that was told. A start has succeeded when the first process is known and did not fail.
struct StartReport {
  std::optional<pid_t> first;  ///< none: the keeper ended before it could tell
  std::optional<StartFailure> failure;
};

/// False: nobody reads.
bool tell_first(int pipe, pid_t first);
bool tell_failure(int pipe, const StartFailure& failure);

/// Reads until the pipe ends.
StartReport read_start_report(int pipe);

}  // namespace sluice::host
