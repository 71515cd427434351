#include "core/types/uid.hpp"

#include <string_view>

namespace sluice {
namespace {

constexpr std::size_t kLength = 36;

bool is_dash_place(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

/// 16 for what is no digit of the usual form.
unsigned digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  return c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10 : 16;
}

UidNumber number_of(std::string_view text) {
  if (text.size() != kLength) return {};
  UidNumber out;
  for (std::size_t i = 0; i < kLength; ++i) {
    if (is_dash_place(i)) {
      if (text[i] != '-') return {};
      continue;
    }
    const unsigned value = digit(text[i]);
    if (value > 15) return {};
    out.high = out.high << 4U | out.low >> 60U;
    out.low = out.low << 4U | value;
  }
  out.known = true;
  return out;
}

}  // namespace

Uid::Uid(std::string text) : text_(std::move(text)), number_(number_of(text_)) {}

}  // namespace sluice
