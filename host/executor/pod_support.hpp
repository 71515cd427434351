// What a pod asks for and a process of this machine does not get. What would be less safe than the
// pod says, or is something that its programs cannot do without, is refused; for the rest there is
// a warning. docs/jobs.md has the table.
//
// Pure; any thread.
#pragma once

#include <sys/types.h>

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace sluice::host {

/// The user and group of the processes that the executor starts.
struct ProcessUser {
  uid_t user = 0;
  gid_t group = 0;
};

/// What of `resources.limits` is held, by control groups.
struct HeldLimits {
  bool cpu = false;
  bool memory = false;
};

struct PodSupport {
  std::string refused;               ///< a sentence; empty: it can run
  std::vector<std::string> ignored;  ///< a sentence each
};

PodSupport support_of(const boost::json::object& pod, const ProcessUser& as,
                      const HeldLimits& held);

}  // namespace sluice::host
