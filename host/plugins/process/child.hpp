// Starting the process of a plugin, with as little as it needs.
//
// The child gets one end of a socket as descriptor 3, the plugin's library as descriptor 4 where
// there is one, a pipe for what it prints, and nothing else of the host: no other descriptor, an
// environment of its own, no new privileges, limits of memory, processor and files, and without
// `network` only sockets of the machine itself. It dies with the thread that started it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/config/config.hpp"

namespace sluice::host {

inline constexpr int kChildSocket = 3;
inline constexpr int kChildLibrary = 4;

struct ChildSpec {
  std::vector<std::string> command;  ///< a name without `/` is looked for in PATH
  std::string folder;                ///< in which it runs
  ProcessConfig process;             ///< limits and environment
  int library = -1;                  ///< borrowed; becomes descriptor 4
};

struct Child {
  pid_t pid = -1;  ///< also the number of its group and session
  int pidfd = -1;
  int socket = -1;  ///< our end
  int said = -1;    ///< what it prints, for reading
};

/// The thread must live as long as the child shall. The caller closes the descriptors.
Result<Child> start_child(const ChildSpec& spec);

}  // namespace sluice::host
