// The pod's runner: the small process (`sluice pod-runner`) under which the containers of one pod
// run, so that a host that restarts, or is killed, neither loses nor doubles a process.
//
// It owns the pod from the moment in which it created the owner's record (which exists once, so a
// second runner leaves at once); it writes each start and each end durably before any process can
// see it, restarts containers as the policy says, and ends when all have ended, with no process of
// the pod left. SIGTERM asks it to end the pod within the grace that the file `stop` names.
#pragma once

#include <filesystem>
#include <string>

namespace sluice::host {

/// Runs pod `uid` of the executor's folder `root`; returns the exit status of the process: 0 when
/// the pod has run to its end, whatever the end was. Called from main() of a process with one
/// thread.
int run_pod_runner(const std::filesystem::path& root, const std::string& uid);

}  // namespace sluice::host
