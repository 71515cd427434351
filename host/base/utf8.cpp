#include "host/base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace sluice::host {
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
    out += "\xEF\xBF\xBD";
    text.remove_prefix(bad + 1);
  }
}

}  // namespace sluice::host
