#include "core/base/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sluice {
namespace {

/// Length of the sequence that starts at `at`, 0 when it is none.
std::size_t sequence_length(const unsigned char* at, std::size_t left) {
  const unsigned char first = at[0];
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;   // overlong
    if (first == 0xED) high = 0x9F;  // surrogates
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;  // beyond U+10FFFF
  }
  if (length == 0 || length > left || at[1] < low || at[1] > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  return length;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kCut = "\xE2\x80\xA6";

/// A control character of ASCII, or one of U+0080 to U+009F, which terminals obey, too; the
/// separators of lines and paragraphs, U+2028 and U+2029; what turns the direction of the text
/// (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), by which one reads other than what
/// is there.
bool is_control(const unsigned char* at, std::size_t length) {
  if (length == 1) return *at < 0x20 || *at == 0x7F;
  if (length == 2) return (at[0] == 0xC2 && at[1] < 0xA0) || (at[0] == 0xD8 && at[1] == 0x9C);
  if (length != 3 || at[0] != 0xE2) return false;
  if (at[1] == 0x80) return (at[2] >= 0xA8 && at[2] <= 0xAE) || at[2] == 0x8E || at[2] == 0x8F;
  return at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9;
}

}  // namespace

std::size_t find_bad_utf8(std::string_view text) {
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    std::uint64_t eight = 0;
    if (i + 8 <= text.size()) {
      std::memcpy(&eight, data + i, 8);
      constexpr std::uint64_t kHigh = 0x8080808080808080;
      constexpr std::uint64_t kOnes = 0x0101010101010101;
      const bool has_zero = ((eight - kOnes) & ~eight & kHigh) != 0;
      if ((eight & kHigh) == 0 && !has_zero) {
        i += 8;
        continue;
      }
    }
    if (data[i] == 0) return i;
    const std::size_t length = data[i] < 0x80 ? 1 : sequence_length(data + i, text.size() - i);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string clean_utf8(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t bad = find_bad_utf8(text);
    out += text.substr(0, bad);
    if (bad == std::string_view::npos) return out;
    out += kReplacement;
    text.remove_prefix(bad + 1);
  }
}

std::string_view cut_utf8(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

bool has_control_characters(std::string_view text) {
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t i = 0; i < text.size(); ++i)
    for (std::size_t length = 1; length <= std::min<std::size_t>(3, text.size() - i); ++length)
      if (is_control(data + i, length)) return true;
  return false;
}

std::string one_line(std::string_view text, std::size_t most) {
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  std::string out;
  std::size_t cut = 0;  // as much of `out` as has room for the mark behind it
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = data[i] < 0x80 ? 1 : sequence_length(data + i, text.size() - i);
    const bool wrong = length == 0 || is_control(data + i, length);
    const std::string_view piece = wrong ? kReplacement : text.substr(i, length);
    if (out.size() + piece.size() > most) return out.replace(cut, out.npos, kCut);
    out += piece;
    i += length == 0 ? 1 : length;
    if (out.size() + kCut.size() <= most) cut = out.size();
  }
  return out;
}

}  // namespace sluice
