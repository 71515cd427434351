// ProcessTree: all processes of this machine at one moment, and what those below one of them use.
//
// Made by one look through /proc; then only read: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sluice::host {

struct TreeUse {
  std::int64_t cpu_us = 0;        ///< of those that are there, and of those that they waited for
  std::int64_t memory_bytes = 0;  ///< that is resident; what several share counts for each
};

class ProcessTree {
 public:
  /// O(processes of the machine).
  static ProcessTree look();

  /// Of a container whose first process this is: all that its keeper (keeper.hpp), which is the
  /// parent, has below it. nullopt: there is no such process.
  std::optional<TreeUse> below_keeper_of(std::int64_t first) const;

 private:
  struct Process {
    std::int64_t parent = 0;
    std::int64_t cpu_us = 0, ended_cpu_us = 0;  ///< its own; of children that it waited for
    std::int64_t memory_bytes = 0;
  };
  std::unordered_map<std::int64_t, Process> processes_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> children_;
};

}  // namespace sluice::host
