#include "host/plugins/onward_clock.hpp"

#include <algorithm>

namespace sluice::host {

Time OnwardClock::now() const {
  const std::lock_guard lock(mutex_);
  const Duration steady = machine_.steady();
  const Duration passed = steady - read_at_;
  read_at_ = steady;
  return last_ = std::max(machine_.now(), last_ + passed - passed / 10);
}

}  // namespace sluice::host
