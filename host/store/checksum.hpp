// Checksum: tells a damaged row from a whole one. Fast, stable over versions of the program, not
// meant to withstand an attacker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice::host {

class Checksum {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15U;
    value_ ^= value_ >> 32;
  }
  /// The text and where it ends.
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t)))
      add(word_of(text, sizeof(std::uint64_t)));
    if (!text.empty()) add(word_of(text, text.size()));
  }
  std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t word_of(std::string_view text, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), size);
    return word;
  }
  std::uint64_t value_ = 0x5c1a1ce5eedU;
};

}  // namespace sluice::host
