// Time points and spans as plain nanosecond counts.
//
// There is one clock, and it is passed in: core never asks for the time. A Time counts from the
// Unix epoch (UTC); virtual clocks use the same scale, so timestamps in manifests compare with it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

using Time = std::int64_t;      ///< ns since 1970-01-01T00:00:00Z
using Duration = std::int64_t;  ///< ns

inline constexpr Duration kMillisecond = 1'000'000;
inline constexpr Duration kSecond = 1'000 * kMillisecond;
inline constexpr Time kNever = std::numeric_limits<Time>::max();

/// What a clock may show and a text may tell, the years 1896 to 2189: the difference of two such
/// moments is a Duration.
inline constexpr Time kEarliest = -(kNever / 4);
inline constexpr Time kLatest = kNever - kNever / 4 - 1;

/// `span` (not negative) after `time`; kNever where that is beyond kLatest.
constexpr Time later(Time time, Duration span) {
  return time <= kLatest && span <= kLatest - time ? time + span : kNever;
}

/// RFC 3339 with an optional fraction and `Z` or a numeric offset; nullopt when it is not one or is
/// not between kEarliest and kLatest.
std::optional<Time> parse_time(std::string_view text);

/// RFC 3339 in UTC. Whole seconds, as metav1.Time; a fraction only when there is one.
std::string format_time(Time time);

/// Go's duration syntax, as Kubernetes writes it: `1500ms`, `90s`, `2m30s`, `1h`, `1.5h`, `0`.
/// nullopt when malformed, negative or too large.
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace sluice
