#include "core/base/base64.hpp"

#include <cstdint>

namespace sluice {

std::string base64_text(std::string_view bytes) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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

}  // namespace sluice
