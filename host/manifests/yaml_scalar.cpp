// Plain YAML scalars, resolved by the YAML 1.1 habits that Kubernetes' tools have: `yes`, `on` and
// `y` are booleans, `010` is octal, `1_000` a number, `1e3` (no sign in the exponent) a text.
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/text.hpp"
#include "host/manifests/reader.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

struct Word {
  std::string_view text;
  int meaning;  // 0 null, 1 true, 2 false, 3 not finite
};

constexpr std::array<Word, 40> kWords = {{
    {"", 0},      {"~", 0},     {"null", 0},  {"Null", 0},  {"NULL", 0}, {"y", 1},     {"Y", 1},
    {"yes", 1},   {"Yes", 1},   {"YES", 1},   {"true", 1},  {"True", 1}, {"TRUE", 1},  {"on", 1},
    {"On", 1},    {"ON", 1},    {"n", 2},     {"N", 2},     {"no", 2},   {"No", 2},    {"NO", 2},
    {"false", 2}, {"False", 2}, {"FALSE", 2}, {"off", 2},   {"Off", 2},  {"OFF", 2},   {".nan", 3},
    {".NaN", 3},  {".NAN", 3},  {".inf", 3},  {".Inf", 3},  {".INF", 3}, {"+.inf", 3}, {"+.Inf", 3},
    {"+.INF", 3}, {"-.inf", 3}, {"-.Inf", 3}, {"-.INF", 3}, {"<<", 4},
}};

/// An integer in Go's syntax, its base by the prefix: 0x, 0o, 0, 0b.
bool parse_integer(std::string_view text, json::value& out) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char second = lower_ascii(text[1]);
    base = second == 'x' ? 16 : second == 'b' ? 2 : 8;
    text.remove_prefix(second == 'x' || second == 'b' || second == 'o' ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, magnitude, base);
  if (text.empty() || error != std::errc() || stop != end) return false;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  if (negative) {
    if (magnitude > kLimit) return false;
    out = magnitude == kLimit ? std::numeric_limits<std::int64_t>::min()
                              : -static_cast<std::int64_t>(magnitude);
  } else if (magnitude < kLimit) {
    out = static_cast<std::int64_t>(magnitude);
  } else {
    out = magnitude;
  }
  return true;
}

/// `[-+]?[0-9]*\.?[0-9]+([eE][-+][0-9]+)?`
bool is_float(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - start;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  std::size_t last = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    last = digits();
  }
  if (last == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return false;
    ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

Result<json::value> plain_scalar(const std::string& text, const json::storage_ptr& storage) {
  for (const Word& word : kWords) {
    if (word.text != text) continue;
    if (word.meaning == 0) return json::value(nullptr, storage);
    if (word.meaning == 3) return Error{"\"" + text + "\" is no number that JSON can hold"};
    if (word.meaning == 4) break;
    return json::value(word.meaning == 1, storage);
  }
  const char first = text[0];
  if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '.') {
    std::string plain;
    for (const char c : text) {
      if (c != '_') plain += c;
    }
    json::value number(nullptr, storage);
    if (parse_integer(plain, number)) return number;
    if (is_float(plain)) {
      if (plain[0] == '+') plain.erase(0, 1);
      double value = 0;
      const auto [stop, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
      if (error == std::errc() && stop == plain.data() + plain.size() && std::isfinite(value)) {
        return json::value(value, storage);
      }
    }
  }
  return json::value(json::string_view(text.data(), text.size()), storage);
}

}  // namespace sluice::host
