// KernelThread: the way to the one thread that may change objects.
#pragma once

#include <functional>

#include "host/controllers/object_access.hpp"

namespace sluice::host {

class KernelThread {
 public:
  virtual ~KernelThread() = default;
  /// Runs the task there, soon, in order with others; what it changed is committed afterwards. May
  /// be called from any thread; tasks that come after the stop are dropped.
  virtual void post(std::function<void(ObjectAccess&)> task) = 0;
};

}  // namespace sluice::host
