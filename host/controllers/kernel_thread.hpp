// KernelThread: the way to the one thread that may change objects. Tasks run there one at a time,
// in the order in which they were posted. May be called from any thread.
#pragma once

#include <functional>

#include "host/objects/object_access.hpp"

namespace sluice::host {

class KernelThread {
 public:
  virtual ~KernelThread() = default;
  /// Runs the task there, soon, in order with others; what it changed is committed afterwards. May
  /// be called from any thread; tasks that come after the stop are dropped.
  virtual void post(std::function<void(ObjectAccess&)> task) = 0;
};

}  // namespace sluice::host
