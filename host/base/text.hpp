// Small questions about texts, most of them from outside, asked by several readers. None depends on
// a locale.
// Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace sluice::host {

/// What JSON and label selectors allow between their words.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The same text for keeping: one that grew while it was written has room for as much again.
inline std::string trimmed(std::string text) {
  if (text.capacity() > text.size() + text.size() / 8) text.shrink_to_fit();
  return text;
}

}  // namespace sluice::host
