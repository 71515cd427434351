// Times as texts of the API.
//
// Pure functions, any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sluice {

/// `2026-01-01T00:00:00Z` of nanoseconds since 1970 UTC.
inline std::string time_text(std::int64_t time) {
  using namespace std::chrono;
  const sys_seconds point{seconds(time / 1'000'000'000)};
  const auto day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss clock{point - day};
  char out[32];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02dZ", int(date.year()),
                unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                int(clock.minutes().count()), int(clock.seconds().count()));
  return out;
}

}  // namespace sluice
