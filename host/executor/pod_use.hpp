// What a pod used until it ended, as a condition of its status: written with the end of the pod, in
// the same write, so that a reader sees both or neither.
//
//   sluice.dev/Used   True   Counted   cpu 3.201342s, memory 42991616, since 2026-01-01T00:00:00Z
//
// Pure functions; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {

inline constexpr std::string_view kUsedCondition = "sluice.dev/Used";

struct CountedUse {
  std::int64_t cpu_us = 0;             ///< of all containers and all their starts
  std::int64_t memory_peak_bytes = 0;  ///< the sum over the containers of the most of each
  Time since = 0;                      ///< when the first one was started
  bool operator==(const CountedUse&) const = default;
};

/// nullopt: it goes on, or nothing was ever started.
std::optional<CountedUse> use_of(const RunState& state);

std::string to_text(const CountedUse& use);

/// What the condition of a pod's status says; nullopt without one.
std::optional<CountedUse> read_use(const boost::json::object& status);

}  // namespace sluice::host
