// Script: what happens to a host in one life story: a line of steps drawn from a seed.
//
// A step carries plain numbers; which job or queue they mean is worked out when it is played, among
// those that are there then. So a story from which steps were taken away is a story, too, which is
// how a failing one is made short. Values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::host::test {

enum class Act : std::uint8_t {
  kSubmit,     ///< a job: queue, size, priority, run time
  kDelete,     ///< a job
  kSetQuota,   ///< of a queue
  kStop,       ///< a queue: hold, hold and drain, or go on
  kSetActive,  ///< of a workload
  kResize,     ///< a job, where plugins let it
  kAnswer,     ///< an admission check's controller answers, perhaps late, perhaps twice
  kPass,       ///< some seconds
  kJump,       ///< the clock goes hours ahead
  kReport,     ///< what processes became is told: some of it, in any order, some of it twice
  kCrash,      ///< the host dies: before, within or after a commit
};

struct Step {
  Act act = Act::kPass;
  std::uint32_t a = 0, b = 0, c = 0;
};

struct Script {
  std::uint64_t seed = 0;
  bool plugins = false;  ///< that come with the host: jobs that grow, workloads with options, use
  bool fair = false;     ///< queues of the cohort are served by their shares
  std::vector<Step> steps;
};

/// The same for the same seed, on any machine.
Script script_of(std::uint64_t seed, std::size_t steps);

/// `crash 2 0 1`
std::string to_text(const Step& step);

}  // namespace sluice::host::test
