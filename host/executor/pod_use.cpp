#include "host/executor/pod_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

/// What stands behind `word`, up to the next comma.
std::string_view behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + word.size());
  return text.substr(0, text.find(','));
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (bad != std::errc() || end != text.data() + text.size() || out < 0) return std::nullopt;
  return out;
}

constexpr std::int64_t kMicros = 1'000'000;

}  // namespace

std::optional<CountedUse> use_of(const RunState& state) {
  if (!state.ended()) return std::nullopt;
  CountedUse out;
  for (const ContainerState& each : state.containers) {
    out.cpu_us += each.used.cpu_us;
    out.memory_peak_bytes += each.used.memory_peak_bytes;
    if (each.first_started != 0 && (out.since == 0 || each.first_started < out.since))
      out.since = each.first_started;
  }
  if (out.since == 0) return std::nullopt;
  return out;
}

std::string to_text(const CountedUse& use) {
  return fmt::format("cpu {}.{:06}s, memory {}, since {}", use.cpu_us / kMicros,
                     use.cpu_us % kMicros, use.memory_peak_bytes, format_time(use.since));
}

std::optional<CountedUse> read_use(const boost::json::object& status) {
  const boost::json::object* condition = find_condition(status, kUsedCondition);
  if (!condition) return std::nullopt;
  const std::string_view text = api::find_text(*condition, "message");
  const std::string_view cpu = behind(text, "cpu ");
  const std::size_t point = cpu.find('.');
  if (point == std::string_view::npos || cpu.size() != point + 8 || cpu.back() != 's')
    return std::nullopt;
  const auto seconds = number(cpu.substr(0, point)), micros = number(cpu.substr(point + 1, 6));
  const auto memory = number(behind(text, "memory "));
  const auto since = parse_time(behind(text, "since "));
  if (!seconds || !micros || !memory || !since || *seconds > kNever / kSecond) return std::nullopt;
  return CountedUse{*seconds * kMicros + *micros, *memory, *since};
}

}  // namespace sluice::host
