// Where a benchmark writes: in the build, or in the folder that SLUICE_BENCH_FOLDER of the
// environment names, which may be on another disk.
#pragma once

#include <cstdlib>
#include <string>

namespace sluice::bench {

inline std::string folder(const std::string& name) {
  const char* chosen = std::getenv("SLUICE_BENCH_FOLDER");
  return (chosen != nullptr ? std::string(chosen) : SLUICE_BENCH_FOLDER) + "/" + name;
}

}  // namespace sluice::bench
