// RequestPace: how often plugins may have the engine look at one workload again.
//
// One that asks for that whenever it is asked itself would have the same head looked at for ever,
// and nobody behind it. So a workload has a number of looks at once and a few a second after that;
// what comes more often is put off, and is one request when it is due. Kernel's thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "host/base/due_times.hpp"
#include "host/base/token_bucket.hpp"

namespace sluice::host {

class RequestPace {
 public:
  static constexpr double kAtOnce = 50, kPerSecond = 10;

  /// Whether the request is carried out now; else it is due later. O(log n) amortised.
  bool may(const std::string& key, Time now);
  /// What was put off and is due, by time and key.
  std::vector<std::string> take_due(Time now);
  /// kNever without one.
  Time next() const { return due_.next(); }

 private:
  void forget_those_at_rest(Time now);

  std::map<std::string, TokenBucket> looks_;  // that each has left
  DueTimes<std::string> due_;
  std::size_t most_ = 1000;  // in looks_, before those that have all their looks again go
};

}  // namespace sluice::host
