// Times as texts of the API.
//
// Pure functions, any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

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

namespace detail {
/// Takes `digits` digits from the front of `text`; negative: they are not there.
inline int take_number(std::string_view& text, std::size_t digits) {
  int value = 0;
  if (text.size() < digits) return -1;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}
inline bool take_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == any_of.npos) return false;
  text.remove_prefix(1);
  return true;
}
/// `.5`, in nanoseconds; what is finer is dropped. Nothing there: 0; negative: it is wrong.
inline std::int64_t take_fraction(std::string_view& text) {
  if (!take_char(text, ".")) return 0;
  std::int64_t nanos = 0, unit = 100'000'000;
  if (text.empty() || text.front() < '0' || text.front() > '9') return -1;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; unit /= 10) {
    nanos += (text.front() - '0') * unit;
    text.remove_prefix(1);
  }
  return nanos;
}
/// `Z` or `+02:00`, in seconds; nullopt: it is neither.
inline std::optional<std::int64_t> take_offset(std::string_view& text) {
  if (take_char(text, "Zz")) return 0;
  const bool west = !text.empty() && text.front() == '-';
  if (!take_char(text, "+-")) return std::nullopt;
  const int hours = take_number(text, 2);
  if (!take_char(text, ":")) return std::nullopt;
  const int minutes = take_number(text, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (hours * 3600 + minutes * 60);
}
}  // namespace detail

/// Nanoseconds since 1970 UTC of a time as RFC 3339 writes it, `2026-01-01T00:00:00Z`,
/// `2026-01-01T02:00:00.5+02:00`; nullopt for everything else, years before 1678 and after 2261
/// included.
inline std::optional<std::int64_t> parse_time(std::string_view text) {
  using namespace std::chrono;
  const int y = detail::take_number(text, 4);
  if (!detail::take_char(text, "-")) return std::nullopt;
  const int m = detail::take_number(text, 2);
  if (!detail::take_char(text, "-")) return std::nullopt;
  const int d = detail::take_number(text, 2);
  if (!detail::take_char(text, "Tt")) return std::nullopt;
  const int hour = detail::take_number(text, 2);
  if (!detail::take_char(text, ":")) return std::nullopt;
  const int minute = detail::take_number(text, 2);
  if (!detail::take_char(text, ":")) return std::nullopt;
  const int second = detail::take_number(text, 2);  // 60 is a leap second
  const std::int64_t nanos = detail::take_fraction(text);
  const auto offset = detail::take_offset(text);
  if (y < 1678 || y > 2261 || m < 1 || d < 1 || hour < 0 || hour > 23 || minute < 0 ||
      minute > 59 || second < 0 || second > 60 || nanos < 0 || !offset || !text.empty())
    return std::nullopt;
  const year_month_day date{year{y}, month{unsigned(m)}, day{unsigned(d)}};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days_since = sys_days{date}.time_since_epoch().count();
  return (days_since * 86'400 + hour * 3600 + minute * 60 + second - *offset) * 1'000'000'000 +
         nanos;
}

}  // namespace sluice
