// WorkloadId and WorkloadState: how workloads are named inside an engine, and where each of them
// stands. Ids are dense and given in the order of creation; they mean nothing outside the engine.
#pragma once

#include <cstdint>

namespace sluice {

using WorkloadId = std::uint32_t;

enum class WorkloadState : std::uint8_t {
  kPending,
  kQuotaReserved,
  kAdmitted,
  kFinished,
  kInactive
};

const char* to_string(WorkloadState state);

}  // namespace sluice
