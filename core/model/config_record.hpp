// What the engine keeps of LocalQueues and AdmissionChecks.
//
// Plain values in the Model, by key; written where configuration is taken in, read by any thread
// between writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/hooks/hooks.hpp"
#include "core/types/kinds.hpp"

namespace sluice {

struct LocalQueueRecord {
  std::string cluster_queue;
  api::StopPolicy stop = api::StopPolicy::kNone;
  std::int64_t generation = 0;  ///< of its spec, in which plugins may have fields
  hooks::Ordering order;        ///< what a plugin says of all that wait there
};

struct CheckRecord {
  bool active = true;
  std::string why_inactive;
  bool preempt_after_check = false;
  std::optional<std::int32_t> retry_delay_seconds;
  bool operator==(const CheckRecord&) const = default;
};

}  // namespace sluice
