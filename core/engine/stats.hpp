// Counts of what an engine did since it was made. Plain values.
#pragma once

#include <cstdint>

namespace sluice {

struct EngineStats {
  std::uint64_t cycles = 0;
  std::uint64_t admissions = 0;
  std::uint64_t evictions = 0;
};

}  // namespace sluice
