#include "core/base/time.hpp"

#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;

/// Reads exactly `count` digits at `pos` and moves on; -1 when there are fewer.
int read_digits(std::string_view text, std::size_t& pos, std::size_t count) {
  if (text.size() - pos < count) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const char c = text[pos + i];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  pos += count;
  return value;
}

bool read_char(std::string_view text, std::size_t& pos, char expected) {
  if (pos >= text.size() || text[pos] != expected) return false;
  ++pos;
  return true;
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar. March is counted as the first month,
/// so that the leap day is the last day of a year.
std::int64_t days_from_civil(int year, int month, int day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719'468;
}

struct Civil {
  std::int64_t year, month, day;
};

Civil civil_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

bool valid_date(int year, int month, int day) {
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 0 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int last = kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
  return day <= last;
}

/// Optional fraction of a second in ns; digits finer than ns are cut off. -1 when malformed.
std::int64_t read_fraction(std::string_view text, std::size_t& pos) {
  if (!read_char(text, pos, '.')) return 0;
  std::int64_t fraction = 0;
  std::int64_t unit = kSecond / 10;
  const std::size_t start = pos;
  for (; pos < text.size() && text[pos] >= '0' && text[pos] <= '9'; ++pos) {
    fraction += (text[pos] - '0') * unit;
    unit /= 10;
  }
  return pos == start ? -1 : fraction;
}

/// `Z` or an offset like `+02:00`, in seconds; nullopt when malformed.
std::optional<std::int64_t> read_offset(std::string_view text, std::size_t& pos) {
  if (pos >= text.size()) return std::nullopt;
  const char sign = text[pos++];
  if (sign == 'Z' || sign == 'z') return 0;
  if (sign != '+' && sign != '-') return std::nullopt;
  const int hours = read_digits(text, pos, 2);
  if (hours < 0 || hours > 23 || !read_char(text, pos, ':')) return std::nullopt;
  const int minutes = read_digits(text, pos, 2);
  if (minutes < 0 || minutes > 59) return std::nullopt;
  const std::int64_t offset = hours * 3600 + minutes * 60;
  return sign == '-' ? -offset : offset;
}

void append_padded(std::string& out, std::int64_t value, int width) {
  const std::string digits = std::to_string(value);
  for (int i = static_cast<int>(digits.size()); i < width; ++i) out += '0';
  out += digits;
}

}  // namespace

std::optional<Time> parse_time(std::string_view text) {
  std::size_t pos = 0;
  const int year = read_digits(text, pos, 4);
  if (!read_char(text, pos, '-')) return std::nullopt;
  const int month = read_digits(text, pos, 2);
  if (!read_char(text, pos, '-')) return std::nullopt;
  const int day = read_digits(text, pos, 2);
  if (!valid_date(year, month, day)) return std::nullopt;
  if (!read_char(text, pos, 'T') && !read_char(text, pos, 't')) return std::nullopt;
  const int hour = read_digits(text, pos, 2);
  if (hour < 0 || hour > 23 || !read_char(text, pos, ':')) return std::nullopt;
  const int minute = read_digits(text, pos, 2);
  if (minute < 0 || minute > 59 || !read_char(text, pos, ':')) return std::nullopt;
  const int second = read_digits(text, pos, 2);
  if (second < 0 || second > 59) return std::nullopt;
  const std::int64_t fraction = read_fraction(text, pos);
  if (fraction < 0) return std::nullopt;
  const auto offset = read_offset(text, pos);
  if (!offset || pos != text.size()) return std::nullopt;

  const std::int64_t seconds = days_from_civil(year, month, day) * kSecondsPerDay + hour * 3600 +
                               minute * 60 + second - *offset;
  Time time = 0;
  if (__builtin_mul_overflow(seconds, kSecond, &time)) return std::nullopt;
  if (__builtin_add_overflow(time, fraction, &time)) return std::nullopt;
  if (time < kEarliest || time > kLatest) return std::nullopt;
  return time;
}

std::string format_time(Time time) {
  std::int64_t seconds = time / kSecond;
  std::int64_t fraction = time % kSecond;
  if (fraction < 0) {
    fraction += kSecond;
    --seconds;
  }
  std::int64_t days = seconds / kSecondsPerDay;
  std::int64_t of_day = seconds % kSecondsPerDay;
  if (of_day < 0) {
    of_day += kSecondsPerDay;
    --days;
  }
  const Civil date = civil_from_days(days);
  std::string out;
  out.reserve(32);
  append_padded(out, date.year, 4);
  out += '-';
  append_padded(out, date.month, 2);
  out += '-';
  append_padded(out, date.day, 2);
  out += 'T';
  append_padded(out, of_day / 3600, 2);
  out += ':';
  append_padded(out, of_day / 60 % 60, 2);
  out += ':';
  append_padded(out, of_day % 60, 2);
  if (fraction != 0) {
    out += '.';
    append_padded(out, fraction, 9);
    while (out.back() == '0') out.pop_back();
  }
  out += 'Z';
  return out;
}

namespace {

/// The unit at `pos` in ns, moving past it; 0 when there is none.
std::int64_t read_unit(std::string_view text, std::size_t& pos) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kUnits = {{
      {"ns", 1},
      {"us", 1'000},
      {"\xC2\xB5s", 1'000},  // U+00B5, micro sign
      {"\xCE\xBCs", 1'000},  // U+03BC, Greek mu
      {"ms", kMillisecond},
      {"s", kSecond},
      {"m", 60 * kSecond},
      {"h", 3600 * kSecond},
  }};
  for (const auto& [name, ns] : kUnits) {
    if (text.substr(pos, name.size()) != name) continue;
    pos += name.size();
    return ns;
  }
  return 0;
}

/// One number with its unit, like `1.5h`; nullopt when malformed or too large.
std::optional<Duration> read_part(std::string_view text, std::size_t& pos) {
  const std::size_t start = pos;
  const auto is_digit = [&] { return pos < text.size() && text[pos] >= '0' && text[pos] <= '9'; };
  std::int64_t whole = 0;
  std::size_t digits = 0;
  for (; is_digit(); ++pos, ++digits) {
    if (__builtin_mul_overflow(whole, 10, &whole)) return std::nullopt;
    if (__builtin_add_overflow(whole, text[pos] - '0', &whole)) return std::nullopt;
  }
  std::int64_t fraction = 0;
  std::int64_t scale = 1;
  if (pos < text.size() && text[pos] == '.') {
    for (++pos; is_digit(); ++pos, ++digits) {
      if (scale >= 1'000'000'000'000'000) continue;  // finer than any unit can show
      fraction = fraction * 10 + (text[pos] - '0');
      scale *= 10;
    }
  }
  if (digits == 0 || pos == start) return std::nullopt;
  const std::int64_t unit = read_unit(text, pos);
  if (unit == 0) return std::nullopt;
  Duration part = 0;
  if (__builtin_mul_overflow(whole, unit, &part)) return std::nullopt;
  __extension__ using Wide = __int128;
  const auto rest = static_cast<std::int64_t>(static_cast<Wide>(fraction) * unit / scale);
  if (__builtin_add_overflow(part, rest, &part)) return std::nullopt;
  return part;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  Duration total = 0;
  for (std::size_t pos = 0; pos < text.size();) {
    const auto part = read_part(text, pos);
    if (!part || __builtin_add_overflow(total, *part, &total)) return std::nullopt;
  }
  return total;
}

}  // namespace sluice
