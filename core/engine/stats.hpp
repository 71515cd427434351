// Counts of what an engine did since it was made; plain values, copied out by a caller on the
// engine's thread.
#pragma once

#include <cstdint>

namespace sluice {

struct EngineStats {
  std::uint64_t cycles = 0;
  std::uint64_t admissions = 0;
  std::uint64_t evictions = 0;
  std::uint64_t quiet_wakes = 0;  ///< trees that woke, and nothing in them was looked at
};

}  // namespace sluice
