// Load: what live_bench plays: manifests to begin with, and workloads that come at their times.
//
// Read from the same folder as `sluice simulate` reads (generate.py writes them), so that both play
// the same. Requests are made once, before the clock starts. Constant after read_load().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/rest/client.hpp"

namespace sluice::bench {

struct Arrival {
  std::int64_t at_us = 0;  ///< after the first
  std::int64_t runtime_us = 0;
  double cpus = 0;       ///< requested by all its pods
  std::size_t sort = 0;  ///< index into Load::sorts
  std::string name;
  std::string create, finish;  ///< whole requests
};

struct Load {
  std::string watch;               ///< path of the collection of all workloads
  std::vector<std::string> sorts;  ///< small, medium, …: what names begin with
  std::vector<Arrival> arrivals;   ///< in order of time
  double quota_cpus = 0;           ///< nominal, of all queues
};

/// Creates on the host what the manifests in `folder` hold, and makes the requests of the rest.
/// Knows the inputs of generate.py: one List, and Timelines that only apply Workloads.
Load read_load(const std::string& folder, const Target& target);

/// The CPU seconds that run, divided by the CPUs that there are: no schedule ends sooner.
double area_bound_seconds(const Load& load);

}  // namespace sluice::bench
