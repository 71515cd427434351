// Fuzzing input as lines: the first ones of the text, empty where there are no more.
// Only for fuzzers; single-threaded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

inline std::array<std::string, 4> fuzz_lines(const std::uint8_t* data, std::size_t size) {
  std::array<std::string, 4> out;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (std::string& line : out) {
    const std::size_t end = text.find('\n');
    line = text.substr(0, end);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}
