// spawn_container(): a container's first process, under a keeper (keeper.hpp) that is a child of
// the pod's runner.
//
// The process leads a session and a process group of its own, reads nothing, writes to two pipes,
// and is killed when its keeper dies. Only the runner calls this: a process with one thread, since
// the child works between fork and exec.
#pragma once

#include <cstdint>
#include <string>

#include "host/base/files.hpp"
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

/// Control groups that the two processes are in from their start, as of make_group(); -1: in none.
struct SpawnGroups {
  int container = -1;
  int keeper = -1;
};

/// As whom, and with what.
struct SpawnRights {
  std::int64_t user = 0, group = 0;  ///< 0: those of this process
  bool all_calls = false;            ///< else those of system_calls.hpp are refused
};

Result<Spawned, SpawnError> spawn_container(const ContainerSpec& spec,
                                            const std::filesystem::path& default_folder,
                                            const SpawnRights& rights = {},
                                            const SpawnGroups& groups = {});

}  // namespace sluice::host
