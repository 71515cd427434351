// The keeper of a container: a process between the pod's runner and the container's first process,
// which sees to it that nothing of a run outlives it.
//
// Whatever a container starts stays below its keeper (a subreaper), also what takes a session of
// its own or lets its parent die. When the first process ends the keeper kills the others, waits
// until they are gone, and ends as the first process did: by the same status, or the same signal.
// The runner being a subreaper too, what outlives a keeper that was killed comes to the runner.
//
// SIGTERM is handed on to the container's process group; when the runner dies all of it is killed.
#pragma once

#include <sys/types.h>

#include <functional>

namespace sluice::host {

/// Makes the process the keeper of `first`, its child. Never returns.
[[noreturn]] void keep_container(pid_t first);

/// What has to be set before the first process is started. False: the runner is gone.
bool become_keeper(pid_t runner);

/// Kills the children of this process that are not to be spared, with all that they leave behind,
/// and waits until they are gone.
void end_children(const std::function<bool(pid_t)>& spared);

}  // namespace sluice::host
