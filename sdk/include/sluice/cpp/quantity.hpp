// Amounts as Kubernetes writes them: `500m`, `1.5`, `2Gi`, `1e3`.
//
// Pure functions, any thread. Whole numbers only: what is finer rounds up, away from zero; what is
// beyond the range of 64 bits is no amount here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

namespace detail {
__extension__ using wide = __int128;

struct Scale {
  wide times = 1, divided_by = 1;
};

inline std::optional<Scale> exponent_scale(std::string_view suffix) {
  suffix.remove_prefix(1);
  const bool negative = !suffix.empty() && suffix.front() == '-';
  if (!suffix.empty() && (suffix.front() == '-' || suffix.front() == '+')) suffix.remove_prefix(1);
  if (suffix.empty() || suffix.size() > 2) return std::nullopt;
  int power = 0;
  for (const char c : suffix) {
    if (c < '0' || c > '9') return std::nullopt;
    power = power * 10 + (c - '0');
  }
  if (power > 18) return std::nullopt;
  Scale scale;
  for (; power > 0; --power) (negative ? scale.divided_by : scale.times) *= 10;
  return scale;
}

inline std::optional<Scale> scale_of(std::string_view suffix) {
  if (suffix.empty()) return Scale{};
  if (suffix == "n") return Scale{1, 1'000'000'000};
  if (suffix == "u") return Scale{1, 1'000'000};
  if (suffix == "m") return Scale{1, 1'000};
  constexpr std::string_view kPowers = "kMGTPE";
  const bool binary = suffix.size() == 2 && suffix[1] == 'i';
  const auto power = suffix[0] == 'K' && binary ? 0 : kPowers.find(suffix[0]);
  if ((suffix.size() == 1 || binary) && power != kPowers.npos && !(suffix[0] == 'k' && binary)) {
    Scale scale;
    for (std::size_t i = 0; i <= power; ++i) scale.times *= binary ? 1024 : 1000;
    return scale;
  }
  if (suffix[0] == 'e' || suffix[0] == 'E') return exponent_scale(suffix);
  return std::nullopt;
}

/// The amount times `unit`, rounded up.
inline std::optional<std::int64_t> amount_in(std::string_view text, std::int64_t unit) {
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  wide number = 0, below = 1;
  std::size_t i = 0, digits = 0;
  for (bool after_point = false; i < text.size(); ++i) {
    if (text[i] == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') break;
    if (++digits > 18) return std::nullopt;
    number = number * 10 + (text[i] - '0');
    if (after_point) below *= 10;
  }
  const auto scale = scale_of(text.substr(i));
  if (digits == 0 || !scale) return std::nullopt;
  constexpr wide kMost = INT64_MAX;
  const wide most_before = kMost * kMost / (scale->times * unit);
  if (number > most_before) return std::nullopt;
  const wide product = number * scale->times * unit;
  // In two steps, each rounded up, which together round up once.
  const wide part = (product + below - 1) / below;
  const wide value = (part + scale->divided_by - 1) / scale->divided_by;
  if (value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(negative ? -value : value);
}
}  // namespace detail

/// In whole units: bytes, pieces. nullopt: it is no amount.
inline std::optional<std::int64_t> quantity_units(std::string_view text) {
  return detail::amount_in(text, 1);
}
/// In thousandths: milli-cpu.
inline std::optional<std::int64_t> quantity_milli(std::string_view text) {
  return detail::amount_in(text, 1000);
}
/// In the units in which a host counts the resource: milli for cpu, whole ones for all others.
inline std::optional<std::int64_t> quantity_of(std::string_view resource, std::string_view text) {
  return resource == "cpu" ? quantity_milli(text) : quantity_units(text);
}
/// An amount of a host as a text of the API: `1500m`, `2`, `1073741824`.
inline std::string quantity_text(std::string_view resource, std::int64_t amount) {
  if (resource != "cpu") return std::to_string(amount);
  return amount % 1000 == 0 ? std::to_string(amount / 1000) : std::to_string(amount) + "m";
}

}  // namespace sluice
