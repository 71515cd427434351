// Story: a script played to its end: a host lives and dies as the script says, a kubelet runs its
// pods, a client keeps account of what it was told, and the model looks after each commit.
//
// When the script is over the queues are opened, everything is told, and time passes until all jobs
// have ended: whoever waits for ever was starved. The same script gives the same story, byte for
// byte. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/dst/script.hpp"

namespace sluice::host::test {

struct Told {
  std::vector<std::string> wrong;  ///< what must not be; empty when all is well
  std::string where;               ///< the step after which it was seen
  std::string objects;             ///< jobs, workloads and pods then, where something is wrong
  std::uint64_t digest = 0;        ///< of all decisions, in order
  std::uint64_t decisions = 0, crashes = 0, pods = 0, jobs = 0, turns = 0;
};

/// `broken`: the host that is played is one that breaks a rule, to see that it is noticed.
enum class Broken : std::uint8_t {
  kNot,
  kForgetsWrites,  ///< its disk loses every 20th write that it acknowledged
  kRestartsPods,   ///< its kubelet forgets what it started when the host dies
};

Told play(const Script& script, Broken broken = Broken::kNot);

}  // namespace sluice::host::test
