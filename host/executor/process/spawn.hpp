// spawn_container(): a container's first process, under a keeper (keeper.hpp) that is a child of
// the pod's runner.
//
// The process leads a session and a process group of its own, reads nothing, writes to two pipes,
// and is killed when its keeper dies. Only the runner calls this: a process with one thread, since
// the child works between fork and exec.
#pragma once

#include <cstdint>
#include <string>

#include "host/executor/process/files.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {

struct Spawned {
  std::int64_t pid = 0;     ///< of the container's first process
  std::int64_t keeper = 0;  ///< the child: ends when nothing of the container is left, as it ended
  Fd out, err;              ///< non-blocking ends of its output
};

struct SpawnError {
  int exit_code = 126;  ///< as a shell would end: 127 when there is no such program
  std::string text;
};

/// `group`: of a control group that the process is in from its start, as of make_group(); or -1.
Result<Spawned, SpawnError> spawn_container(const ContainerSpec& spec,
                                            const std::filesystem::path& default_folder,
                                            int group = -1);

}  // namespace sluice::host
