#include "names.hpp"

#include <algorithm>

namespace options {
namespace {

constexpr std::string_view kMiddle = "-option-";
constexpr std::size_t kHash = 10;         // hex digits
constexpr std::size_t kLongestEnd = 120;  // of the option's name in a shortened one

/// FNV-1a; the zero byte keeps the two names apart.
std::string hash_of(std::string_view parent, std::string_view option) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](char c) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  for (const char c : parent) add(c);
  add('\0');
  for (const char c : option) add(c);
  std::string out;
  for (std::size_t i = 0; i < kHash; ++i, hash >>= 4U) out += "0123456789abcdef"[hash & 15U];
  return out;
}

/// At most `length` bytes, ending where the part of a name may end.
std::string_view cut(std::string_view text, std::size_t length) {
  text = text.substr(0, length);
  while (!text.empty() && (text.back() == '-' || text.back() == '.')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string option_name(std::string_view parent, std::string_view option, bool taken) {
  std::string plain(parent);
  plain.append(kMiddle).append(option);
  if (!taken && plain.size() <= kLongestName) return plain;
  const std::string_view end = cut(option, kLongestEnd);
  const std::size_t left = kLongestName - kMiddle.size() - end.size() - 1 - kHash;
  std::string out(cut(parent, left));
  return out.append(kMiddle).append(end).append("-").append(hash_of(parent, option));
}

}  // namespace options
