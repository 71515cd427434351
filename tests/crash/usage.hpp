// Usage: what the queues say is used, against what the workloads hold.
//
// Plain values; each call belongs to the thread of its client.
#pragma once

#include <map>
#include <string>

#include "tests/crash/host_process.hpp"

namespace sluice::host::test {

/// `queue flavor resource reserved|used` → amount in thousandths; what is zero is left out.
using Usage = std::map<std::string, std::int64_t>;

struct UsageSeen {
  Usage told, summed;
  bool complete = false;  ///< both lists were answered
};

/// The statuses of all ClusterQueues, and the sum over all workloads. Both move while jobs run, so
/// they agree once the host has come to rest, if ever.
UsageSeen read_usage(AdminClient& client);

std::string to_text(const Usage& usage);

}  // namespace sluice::host::test
