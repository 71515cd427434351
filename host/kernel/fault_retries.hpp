// FaultRetries: when plugins are asked again about workloads for which one had no answer.
//
// The fault may be of the moment: a call that took too long because the machine stood still. Of a
// workload that waits for nothing else nobody would ever ask again. So each is asked about after a
// minute, and after twice as long each further time (16 minutes at most), eight times in all: what
// always fails is not called for ever, and simulations end. Kernel's thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "host/base/due_times.hpp"

namespace sluice::host {

class FaultRetries {
 public:
  static constexpr int kMost = 8;
  /// In one turn, so that others come between where very many are due.
  static constexpr std::size_t kAtOnce = 256;

  /// There was a fault at this time. Whoever has a time keeps it. O(log n), as all others.
  void note(const std::string& key, Time now);
  /// It holds quota, or is gone: its next fault is its first.
  void forget(const std::string& key);
  /// Those that are asked about now, by time and key: kAtOnce at most, the others stay due.
  std::vector<std::string> take_due(Time now);
  /// kNever without one.
  Time next() const { return due_.next(); }

 private:
  std::map<std::string, int> tries_;  // so far
  DueTimes<std::string> due_;
};

}  // namespace sluice::host
