// Player: plays a Load against a host in real time, as a cluster full of controllers would.
//
// Creates each workload at its time, learns of admissions and evictions by one watch over all
// workloads, and finishes each one its runtime after it was admitted; an eviction starts it anew.
// Requests go over many connections, one at a time on each; what finds all of them busy waits for
// the next that is free. Everything on one thread, so that the host keeps the rest of the machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/live/load.hpp"
#include "bench/rest/client.hpp"

namespace sluice::bench {

struct Played {
  double span_seconds = 0;      ///< from the first creation sent to the last end answered
  double used_cpu_seconds = 0;  ///< held by admitted workloads, from admission to eviction or end
  std::size_t admissions = 0, evictions = 0;
  double client_cpu_seconds = 0;
  std::vector<Latencies> to_admission;  ///< by sort: creation sent to its last admission seen
  Latencies create, finish;             ///< request sent to answered
  double late_ms = 0;                   ///< by which the latest creation was sent after its time
};

Played play(const Target& target, const Load& load, std::size_t connections);

}  // namespace sluice::bench
