#include "core/base/base64.hpp"

#include <cstdint>

namespace sluice {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_text(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t index) -> std::uint32_t {
      return index < bytes.size() ? static_cast<unsigned char>(bytes[index]) : 0U;
    };
    const std::uint32_t bits = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    out += kLetters[bits >> 18 & 63];
    out += kLetters[bits >> 12 & 63];
    out += i + 1 < bytes.size() ? kLetters[bits >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kLetters[bits & 63] : '=';
  }
  return out;
}

std::string base64_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const std::size_t value = kLetters.find(letter);
    if (value == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 255U);
  }
  return out;
}

}  // namespace sluice
