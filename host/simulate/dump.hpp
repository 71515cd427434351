// Dump: all objects with their status, in a form that `sluice simulate` takes as its input.
//
// Before them stands a Timeline without events that says where the virtual clock stands, so that a
// later run goes on from there: events up to that offset count as done.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "host/kernel/kernel.hpp"

namespace sluice::host {

/// YAML when `path` ends in .yaml or .yml, else a JSON List. "-" is not allowed.
Result<void> write_dump(const std::string& path, const Kernel& kernel, Time start, Duration offset);

}  // namespace sluice::host
