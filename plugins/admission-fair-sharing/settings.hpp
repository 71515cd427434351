// The plugin's configuration: that of `admissionFairSharing` in Kueue's configuration file.
//
// Pure functions, any thread.
#pragma once

#include <sluice/plugin.hpp>

#include <string_view>

#include "usage.hpp"

namespace afs {

inline constexpr std::string_view kConfigSchema =
    R"({
  "type": "object",
  "properties": {
    "usageHalfLifeTime": {
      "type": "string", "default": "168h",
      "description": "after so long half of what was used is forgotten"
    },
    "usageSamplingInterval": {
      "type": "string", "default": "5m",
      "description": "how often usage is brought up to date while somebody waits; and for so )"
    R"(long a workload counts at once when it comes in"
    },
    "resourceWeights": {
      "type": "object", "additionalProperties": true, "default": {},
      "description": "how much of each resource counts; 1 where nothing is said"
    }
  }
})";

/// Throws sluice::Refused with the key, the value and what is allowed.
Rates rates_of(const sluice::Json& config);

/// Seconds of `168h`, `5m`, `1h30m`, `90s`, `500ms`; nullopt: it is no duration.
std::optional<double> duration_of(std::string_view text);

}  // namespace afs
