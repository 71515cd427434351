// Small things that are done to texts in many places: blanks at their ends, pieces between
// separators, letters of lower case, hexadecimal digits.
//
// All of it is about ASCII and depends on no locale; other bytes stay as they are. Pure functions,
// any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Without what of `blanks` stands at its ends; points into `text`. Which characters are blank
/// differs by format, so each caller says it.
constexpr std::string_view trim(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// The pieces between separators, empty ones too: one more than there are separators. They point
/// into `text`.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// The pieces that are not empty.
inline std::vector<std::string_view> words(std::string_view text, char separator) {
  std::vector<std::string_view> out = split(text, separator);
  std::erase(out, std::string_view());
  return out;
}

constexpr char lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_ascii(c);
  return out;
}

/// What a hexadecimal digit of either case stands for; -1: it is none.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = lower_ascii(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Two hexadecimal digits of lower case.
inline void append_hex(unsigned char byte, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 15U];
}

}  // namespace sluice
