// HostProcess: the `sluice serve` that is measured, as a child process with a store of its own.
// Belongs to one thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "bench/rest/client.hpp"

namespace sluice::bench {

/// Processor seconds of the host, by the names of its threads.
using ThreadSeconds = std::map<std::string, double>;

/// What its configuration has besides.
struct HostExtras {
  std::string server;  ///< more keys of that section
  std::string tokens;  ///< lines of its token file
};

class HostProcess {
 public:
  /// Starts it and waits until it is ready. `folder` is emptied first; it holds the store, the
  /// configuration and the log.
  HostProcess(const std::string& sluice, const std::string& folder, const HostExtras& extras = {});
  /// Ends it in order and removes the store.
  ~HostProcess();
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  const Target& secure() const { return secure_; }
  const Target& plain() const { return plain_; }
  ThreadSeconds threads() const;
  /// Memory that it has in use, in MiB.
  double resident() const;
  /// The most that it had in use at any time, in MiB.
  double peak_resident() const;

 private:
  pid_t pid_ = -1;
  std::string folder_;
  Target secure_, plain_;
};

double total(const ThreadSeconds& seconds);

}  // namespace sluice::bench
